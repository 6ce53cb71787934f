"""Refocusing in plain NumPy: the oracle of core/render. Slow on purpose.

Codes are the defocus of pixels as small integers. Openings are rows x columns x 2 x n; see dualpix.render.openings.
"""

import numpy as np

SLICE, HIDING = 5, 2  # codes; slices
EDGE = HIDING * SLICE  # codes
DIRECTIONS = ((-1, 0), (1, 0), (0, -1), (0, 1))  # dx, dy: left, right, up, down


# ---- defocus -------------------------------------------------------------------------------------
def code_of(r):
    """The code of a signed blur radius in px, positive in front of the focus."""
    return np.rint(80 * np.arcsinh(np.clip(r, -256, 256) / 8)).astype(int)


def radius_of(code):
    return 8 * np.sinh(np.abs(code) / 80)


def slice_of(code):
    return (code + SLICE // 2) // SLICE


# ---- what is behind ------------------------------------------------------------------------------
def background(codes):
    """4 * distance + direction of the background behind each pixel, 0 if there is none."""
    behind = np.zeros(codes.shape, int)
    for y, x in np.ndindex(codes.shape):
        found = [(foot_distance(line(codes, x, y, *step)), direction) for direction, step in enumerate(DIRECTIONS)]
        found = [each for each in found if each[0]]
        if found:
            distance, direction = min(found, key=lambda each: each[0])
            away = line(codes, x, y, *DIRECTIONS[direction])
            continues = 2 * distance < len(away) and abs(away[2 * distance] - away[distance]) <= SLICE
            behind[y, x] = 4 * (2 * distance if continues else distance) + direction
    return behind


def line(codes, x, y, dx, dy):
    """The codes from a pixel in one direction to the border."""
    if dy == 0:
        return codes[y, x:] if dx > 0 else codes[y, x::-1]
    return codes[y:, x] if dy > 0 else codes[y::-1, x]


def foot_distance(away):
    """Distance of the nearest foot that is far enough behind the first pixel of a line, 0 if there is none in reach."""
    for k in range(1, len(away)):
        edge = away[k - 1] - away[k] > EDGE
        ramp = k + 1 < len(away) and away[k] - away[k + 1] > EDGE
        if edge and not ramp and away[k] < away[0] - EDGE:
            return k if k <= radius_of(away[0]) + radius_of(away[k]) + 1 else 0
    return 0


# ---- spots ---------------------------------------------------------------------------------------
def spot(chords, code):
    """The image of a point: the opening scaled to its radius, integrated against the bilinear hats of the pixels."""
    if code == 0:
        return np.ones((1, 1))
    r, n = radius_of(code), chords.shape[1]
    y, (left, right) = r * (2 * np.arange(n) + 1 - n) / n, r * chords.astype(float)
    size = int(np.ceil(r * max(1, np.abs(chords).max()))) + 1
    taps = np.arange(-size, size + 1)
    down = np.maximum(1 - np.abs(y - taps[:, None]), 0)
    across = np.maximum(hat_integral(right[:, None] - taps) - hat_integral(left[:, None] - taps), 0)
    kernel = down @ across
    return kernel / kernel.sum()


def hat_integral(x):
    """The integral of ``max(1 - |t|, 0)`` from 0 to x."""
    x = np.clip(x, -1, 1)
    return x - x * np.abs(x) / 2


# ---- refocus -------------------------------------------------------------------------------------
def refocus(light, codes, openings):
    """Lay the slices over each other, near ones over far ones. light is HxWxC, linear."""
    h, w = codes.shape
    spots = {}

    def spot_at(x, y, code):
        """The number of the opening at a pixel. Behind the focus it is that of the opposite place."""
        row, column = y * openings.shape[0] // h, x * openings.shape[1] // w
        if code < 0:
            row, column = openings.shape[0] - 1 - row, openings.shape[1] - 1 - column
        key = row, column, abs(code)
        if key not in spots:
            spots[key] = spot(openings[row, column], abs(code))
        return spots[key]

    behind = background(codes)
    sources = []
    for y, x in np.ndindex(codes.shape):
        sources.append((x, y, codes[y, x], light[y, x]))
        if behind[y, x]:
            distance, (dx, dy) = behind[y, x] // 4, DIRECTIONS[behind[y, x] % 4]
            from_y, from_x = y + distance * dy, x + distance * dx
            sources.append((x, y, codes[from_y, from_x], light[from_y, from_x]))
    covers = {}
    total, weight = np.zeros(light.shape), np.zeros((h, w, 1))
    for number in sorted({slice_of(each[2]) for each in sources}, reverse=True):
        spread = np.zeros((h, w, light.shape[2] + 1))
        for x, y, code, colour in sources:
            if slice_of(code) == number:
                add_mirrored(spread, x, y, spot_at(x, y, code), np.append(colour, 1))
        hidden = sum((cover for front, cover in covers.items() if front >= number + HIDING), np.zeros((h, w, 1)))
        seen = np.maximum(1 - hidden, 0)
        total += seen * spread[..., :-1]
        weight += seen * spread[..., -1:]
        covers[number] = spread[..., -1:]
    return total / weight


def add_mirrored(spread, x, y, kernel, colour):
    """Add the spot of a pixel, and of its mirror images outside the picture, as far as they reach into it."""
    h, w = spread.shape[:2]
    size = len(kernel) // 2
    for top in images(y, h, size):
        for left in images(x, w, size):
            rows, columns = (slice(max(at - size, 0), min(at + size + 1, n)) for at, n in ((top, h), (left, w)))
            part = kernel[
                rows.start - top + size : rows.stop - top + size,
                columns.start - left + size : columns.stop - left + size,
            ]
            spread[rows, columns] += part[..., None] * colour


def images(at, n, size):
    """The places of a pixel in the picture mirrored at its borders without end, where its spot reaches the picture."""
    far = -(-size // (2 * n)) + 1
    places = [at + 2 * n * k for k in range(-far, far + 1)] + [2 * n * k - 1 - at for k in range(-far, far + 1)]
    return [place for place in places if -size <= place < n + size]


def to_linear(v):
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def to_srgb(v):
    return np.where(v <= 0.0031308, v * 12.92, 1.055 * np.maximum(v, 1e-9) ** (1 / 2.4) - 0.055)
