"""The kernels of `core/files` in plain Python: filters of PNG, LZW and PackBits of TIFF."""

import numpy as np


def unfilter(data, height, stride, pixel):
    """The rows of a PNG. Every row of `data` begins with its filter."""
    rows = np.zeros((height, stride), np.int64)
    for y, line in enumerate(np.frombuffer(data, np.uint8).reshape(height, stride + 1).tolist()):
        for x in range(stride):
            a = rows[y, x - pixel] if x >= pixel else 0
            b = rows[y - 1, x] if y else 0
            c = rows[y - 1, x - pixel] if y and x >= pixel else 0
            nearest = min((a, b, c), key=lambda value: abs(a + b - c - value))  # the first of the nearest
            rows[y, x] = (line[x + 1] + (0, a, b, (a + b) // 2, nearest)[line[0]]) % 256
    return rows.astype(np.uint8)


def unpack_bits(data):
    out, i = b"", 0
    while i < len(data):
        n, i = data[i], i + 1
        if n < 128:
            out, i = out + data[i : i + n + 1], i + n + 1
        elif n > 128:
            out, i = out + data[i : i + 1] * (257 - n), i + 1
    return out


def pack_lzw(data):
    """The codes of TIFF's LZW, with a table that is cleared when it is full."""
    codes, table, string, width = [(256, 9)], {bytes([i]): i for i in range(256)}, b"", 9
    for byte in data:
        longer = string + bytes([byte])
        if longer in table:
            string = longer
            continue
        codes.append((table[string], width))
        table[longer] = len(table) + 2  # 256 and 257 are no strings
        width = max(width, (len(table) + 2).bit_length())
        if len(table) + 2 == 4095:
            codes.append((256, width))
            table, width = {bytes([i]): i for i in range(256)}, 9
        string = bytes([byte])
    codes += [(table[string], width), (257, width)] if string else [(257, width)]
    bits = "".join(f"{code:0{width}b}" for code, width in codes)
    return int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")
