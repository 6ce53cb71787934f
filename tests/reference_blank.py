"""Blank parts in plain NumPy: the oracle of ``core/filters/blank.cpp``."""

import numpy as np

BESIDE = ((-1, 0), (0, -1), (0, 1), (1, 0))
AROUND = tuple((dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx)


def neighbours(y, x, shape, offsets):
    """The neighbours of a pixel inside the map."""
    return [(y + dy, x + dx) for dy, dx in offsets if 0 <= y + dy < shape[0] and 0 <= x + dx < shape[1]]


def flooded(blank, first):
    """The connected blank pixels that `first` belongs to."""
    found, todo = {first}, [first]
    while todo:
        for pixel in neighbours(*todo.pop(), blank.shape, BESIDE):
            if blank[pixel] and pixel not in found:
                found.add(pixel)
                todo.append(pixel)
    return found


def blank_parts(blank, d, least, reach):
    """Number of parts, part, steps; and for each pixel all disparities that `beside` may have."""
    part, steps = np.zeros(blank.shape, np.int32), np.zeros(blank.shape, np.uint8)
    seen, parts = set(), 0
    for pixel in zip(*np.nonzero(blank), strict=True):
        if pixel in seen:
            continue
        found = flooded(blank, pixel)
        seen |= found
        if len(found) >= least:
            parts += 1
            for each in found:
                part[each] = parts
    ways = {pixel: {(int(part[pixel]), float(d[pixel]))} for pixel in np.ndindex(d.shape) if part[pixel]}
    front = dict(ways)
    for step in range(1, reach + 1):
        reached = {}
        for pixel, way in front.items():
            for to in neighbours(*pixel, d.shape, AROUND):
                if to not in ways:
                    leaves = {(number, float(d[to])) for number, _ in way} if step == 1 else way
                    reached[to] = reached.get(to, set()) | leaves
        for pixel in reached:
            steps[pixel] = step
        ways |= reached
        front = reached
    return parts, steps, ways
