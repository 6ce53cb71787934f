// Which pixels spread their light, and in which order. The same as core/render/defocus.cpp and the first half of
// core/render/refocus.cpp. Functions with a star yield from time to time, so that the page never stops.
const Sources = (() => {
  const SLICE = 5;      // codes; pixels of one slice are blurred together
  const HIDING = 2;     // slices; a slice hides those that lie this far behind it
  const EDGE = HIDING * SLICE;  // codes; a larger step between neighbouring pixels is a depth edge
  const ROWS = 32;      // rows between two yields
  const FINE = 16;      // entries per px in the table that finds codes
  const {MOST_CODE, MOST_RADIUS, radiusOf, codeOf} = Spots;
  const CODES = 2 * MOST_CODE + 1;
  const RADII = Float32Array.from({length: MOST_CODE + 1}, (_, code) => radiusOf(code));

  const sliceOf = code => Math.floor((code + (SLICE >> 1)) / SLICE);

  // Symmetric padding: ... 1 0 | 0 1 2 ... n-1 | n-1 n-2 ...
  function mirror(i, n) {
    i = ((i % (2 * n)) + 2 * n) % (2 * n);
    return i < n ? i : 2 * n - 1 - i;
  }

  // guess[i] is the code at the middle of an entry, limits[i] the radius up to which that holds; one more above.
  const guess = new Int16Array(2 * MOST_RADIUS * FINE + 1), limits = new Float32Array(CODES + 1);
  for (let i = 0; i < guess.length; ++i) guess[i] = codeOf(i / FINE - MOST_RADIUS) + MOST_CODE;
  for (let i = 0; i <= CODES; ++i) limits[i] = 8 * Math.sinh((i - 0.5 - MOST_CODE) / 80);

  // The codes of the pixels of `part` of the picture, from the map: r = gain (d - focus).
  function* codesOf(map, picture, part, focus, gain) {
    const codes = new Int16Array(part.w * part.h);
    const columns = Int32Array.from({length: part.w}, (_, x) => Math.floor((part.x + x + 0.5) * map.width / picture.w));
    for (let y = 0, i = 0; y < part.h; ++y) {
      const row = Math.floor((part.y + y + 0.5) * map.height / picture.h) * map.width;
      for (let x = 0; x < part.w; ++x) {
        const r = Math.min(Math.max(gain * (map.disparity[row + columns[x]] - focus), -MOST_RADIUS), MOST_RADIUS);
        let code = guess[Math.round((r + MOST_RADIUS) * FINE)];
        while (r < limits[code]) --code;
        while (r > limits[code + 1]) ++code;
        codes[i++] = code - MOST_CODE;
      }
      if (y % ROWS === 0) yield 0;
    }
    return codes;
  }

  // ---- what lies behind near objects ---------------------------------------------------------------

  const feetAt = new Int32Array(1 << 16), feetCode = new Int32Array(1 << 16);

  // Looks along a line of pixels for the background behind each of them; see Feet in defocus.cpp.
  function scan(codes, behind, begin, step, n, direction) {
    let feet = 0, last = -2, before = codes[begin];
    for (let i = 1, at = begin + step; i < n; ++i, at += step) {
      const code = codes[at];
      if (code - before > EDGE) {
        if (last !== i - 1) {
          while (feet > 0 && feetCode[feet - 1] >= before) --feet;
          feetAt[feet] = i - 1;
          feetCode[feet++] = before;
        }
        last = i;
      }
      before = code;
      let k = feet;
      while (k > 0 && feetCode[k - 1] >= code - EDGE) --k;
      if (k === 0) continue;
      const distance = i - feetAt[k - 1], foot = feetCode[k - 1], best = behind[at];
      if (distance > RADII[code < 0 ? -code : code] + RADII[foot < 0 ? -foot : foot] + 1) continue;
      if (best === 0 || distance < best >> 2) behind[at] = 4 * distance + direction;
    }
  }

  // Moves the sample from the foot to its mirror image, if that is in the picture and on the same surface.
  function mirrored(codes, w, h, x, y, sample) {
    const distance = sample >> 2, dx = distance * ACROSS[sample & 3], dy = distance * DOWN[sample & 3];
    const mx = x + 2 * dx, my = y + 2 * dy;
    if (mx < 0 || mx >= w || my < 0 || my >= h) return sample;
    const same = Math.abs(codes[my * w + mx] - codes[(y + dy) * w + x + dx]) <= SLICE;
    return same ? 8 * distance + (sample & 3) : sample;
  }
  const ACROSS = [-1, 1, 0, 0], DOWN = [0, 0, -1, 1];

  // For every pixel, where the background is that it hides: 4 distance + direction (left, right, up, down), 0 if none.
  function* background(codes, w, h) {
    const behind = new Int16Array(codes.length);
    for (let y = 0; y < h; ++y) {
      scan(codes, behind, y * w, 1, w, 0);
      scan(codes, behind, y * w + w - 1, -1, w, 1);
      if (y % ROWS === 0) yield 0;
    }
    for (let x = 0; x < w; ++x) {
      scan(codes, behind, x, w, h, 2);
      scan(codes, behind, (h - 1) * w + x, -w, h, 3);
      if (x % ROWS === 0) yield 0;
    }
    for (let y = 0, i = 0; y < h; ++y)
      for (let x = 0; x < w; ++x, ++i) if (behind[i]) behind[i] = mirrored(codes, w, h, x, y, behind[i]);
    return behind;
  }

  // ---- sources, the nearest first ------------------------------------------------------------------

  // Calls add(code, x, y, sample) for every source that reaches the view. (x, y) counts from the corner of the view
  // with `pad` pixels around it, mirrored at the borders of the picture.
  function* each(frame, codes, behind, reach, add) {
    const {picture, part, view, pad} = frame, w = view.w + 2 * pad, h = view.h + 2 * pad;
    const outside = (i, n) => Math.max(pad - i, i - (pad + n - 1), 0);
    const columns = Int32Array.from({length: w}, (_, x) => mirror(view.x - pad + x, picture.w) - part.x);
    const beside = Int32Array.from({length: w}, (_, x) => outside(x, view.w));
    for (let y = 0; y < h; ++y) {
      const row = (mirror(view.y - pad + y, picture.h) - part.y) * part.w, above = outside(y, view.h);
      for (let x = 0; x < w; ++x) {
        const place = row + columns[x], away = beside[x] > above ? beside[x] : above, code = codes[place];
        if (away <= reach[code < 0 ? -code : code]) add(code, x, y, 0);
        const sample = behind[place];
        if (sample === 0) continue;
        const hidden = codes[place + (sample >> 2) * ((sample & 2 ? part.w : 1) * (sample & 1 ? 1 : -1))];
        if (away <= reach[hidden < 0 ? -hidden : hidden]) add(hidden, x, y, sample);
      }
      if (y % ROWS === 0) yield 0;
    }
  }

  // All sources of a view, sorted by code, the nearest first. A source is two numbers: x + y 2^16, and
  // code + 512 + sample 2^10. Returns them with the slices {number, ranges: [{code, begin, end}], box}.
  function* collect(map, frame, focus, gain, reach) {
    const codes = yield* codesOf(map, frame.picture, frame.part, focus, gain);
    const behind = yield* background(codes, frame.part.w, frame.part.h);
    const counts = new Int32Array(CODES), next = new Int32Array(CODES);
    yield* each(frame, codes, behind, reach, code => { ++counts[code + MOST_CODE]; });
    let total = 0;
    for (let i = CODES - 1; i >= 0; --i) [next[i], total] = [total, total + counts[i]];
    const list = new Uint32Array(2 * total);
    const left = new Int32Array(CODES).fill(1 << 16), right = new Int32Array(CODES);
    const top = new Int32Array(CODES).fill(1 << 16), bottom = new Int32Array(CODES);
    yield* each(frame, codes, behind, reach, (code, x, y, sample) => {
      const i = code + MOST_CODE, at = 2 * next[i]++;
      list[at] = x | y << 16;
      list[at + 1] = code + 512 | sample << 10;
      if (x < left[i]) left[i] = x;
      if (x >= right[i]) right[i] = x + 1;
      if (y < top[i]) top[i] = y;
      bottom[i] = y + 1;
    });
    const slices = [];
    for (let i = CODES - 1; i >= 0; --i) {
      if (counts[i] === 0) continue;
      const code = i - MOST_CODE, number = sliceOf(code), far = reach[Math.abs(code)];
      if (slices.at(-1)?.number !== number)
        slices.push({number, ranges: [], box: {left: 1 << 16, top: 1 << 16, right: 0, bottom: 0}});
      const {ranges, box} = slices.at(-1);
      ranges.push({code, begin: next[i] - counts[i], end: next[i]});
      [box.left, box.top] = [Math.min(box.left, left[i] - far), Math.min(box.top, top[i] - far)];
      [box.right, box.bottom] = [Math.max(box.right, right[i] + far), Math.max(box.bottom, bottom[i] + far)];
    }
    return {list, slices};
  }

  // The sources begin to end of the list in squares of 2^level pixels, one source for each square that has any. `codes`
  // has the code at that level, by code + MOST_CODE. `stamps` remembers the squares that were met; `mark` must be new.
  function merge(list, begin, end, level, width, codes, stamps, mark) {
    const merged = new Uint32Array(2 * (end - begin));
    let n = 0;
    for (let i = 2 * begin; i < 2 * end; i += 2) {
      const x = (list[i] & 0xffff) >> level, y = list[i] >>> 16 + level, square = y * width + x;
      if (stamps[square] === mark) continue;
      stamps[square] = mark;
      merged[n++] = x | y << 16;
      merged[n++] = codes[(list[i + 1] & 1023) - 512 + MOST_CODE] + 512;
    }
    return merged.subarray(0, n);
  }

  return {HIDING, collect, merge};
})();
