// Blur radii as small integers, and the images of points out of focus. The same as core/render/defocus.h, spots.cpp and
// render/openings.py.
const Spots = (() => {
  const CODES = 80, LINEAR = 8;  // code = round(80 asinh(r / 8)), r in px, > 0 in front of the focus
  const MOST_RADIUS = 256, MOST_CODE = 333;
  const LINES = 512;             // across the opening
  const ROWS = 7, COLUMNS = 9;   // openings over the picture, if they differ
  const CAT_EYE = 0.7;           // how far the opening is clipped at the corners of the picture, in radii
  const WIDTH = 4096;            // of the texture of all spots

  const radiusOf = code => LINEAR * Math.sinh(Math.abs(code) / CODES);
  const codeOf = r => Math.round(CODES * Math.asinh(Math.min(Math.max(r, -MOST_RADIUS), MOST_RADIUS) / LINEAR));
  const reachOf = (code, extent) => code === 0 ? 0 : Math.ceil(radiusOf(code) * extent) + 1;

  const lines = ends => {
    const chords = new Float64Array(2 * LINES);  // the left ends, then the right ends
    for (let k = 0; k < LINES; ++k) {
      const [left, right] = ends((2 * k + 1 - LINES) / LINES);
      if (left < right) [chords[k], chords[LINES + k]] = [left, right];
    }
    return chords;
  };
  const circle = v => Math.sqrt(Math.max(1 - v * v, 0));

  // Six blades with corners at the left and the right. The area is that of the disc.
  function hexagon(v) {
    const corner = Math.sqrt(2 * Math.PI / Math.sqrt(27));
    const half = Math.abs(v) < corner * Math.sqrt(3) / 2 ? corner - Math.abs(v) / Math.sqrt(3) : 0;
    return [-half, half];
  }

  // The part of the disc where |(u, v) + CAT_EYE (x, y)| < 1. The corners of the picture are at |(x, y)| = 1.
  function catEye(x, y, v) {
    const disc = circle(v), half = circle(v + CAT_EYE * y);
    return half > 0 ? [Math.max(-disc, -half - CAT_EYE * x), Math.min(disc, half - CAT_EYE * x)] : [0, 0];
  }

  function openings(shape, width, height) {
    if (shape === "hexagon") return {rows: 1, columns: 1, chords: [lines(hexagon)]};
    if (shape === "disc") return {rows: 1, columns: 1, chords: [lines(v => [-circle(v), circle(v)])]};
    if (shape !== "cat-eye") throw new Error(`shape is ${shape}: give disc, hexagon or cat-eye`);
    const chords = [], diagonal = Math.hypot(width, height);
    for (let j = 0; j < ROWS; ++j)
      for (let i = 0; i < COLUMNS; ++i) {
        const x = (2 * i + 1 - COLUMNS) / COLUMNS * width / diagonal;
        const y = (2 * j + 1 - ROWS) / ROWS * height / diagonal;
        chords.push(lines(v => catEye(x, y, v)));
      }
    return {rows: ROWS, columns: COLUMNS, chords};
  }

  // Adds to `spot` (side x side weights) the opening scaled to the radius r, against the bilinear hats of the pixels.
  function draw(spot, side, reach, chords, r) {
    const width = side + 1, steps = new Float64Array(side * width);  // differences along the rows
    let mass = 0;
    for (let k = 0; k < LINES; ++k) mass += chords[LINES + k] - chords[k];
    const step = (row, x, weight) => {
      const j = Math.floor(x), f = x - j, before = 0.5 * (1 - f) * (1 - f), after = 0.5 * f * f;
      const at = (row + reach) * width + j + reach;
      steps[at] += weight * before;
      steps[at + 1] += weight * (1 - before - after);
      steps[at + 2] += weight * after;
    };
    for (let k = 0; k < LINES; ++k) {
      if (chords[LINES + k] <= chords[k]) continue;
      const y = r * (2 * k + 1 - LINES) / LINES, row = Math.floor(y), share = 1 / (r * mass);
      for (let i = 0; i < 2; ++i) {
        const weight = share * (i === 0 ? 1 - (y - row) : y - row);
        step(row + i, r * chords[k], weight);
        step(row + i, r * chords[LINES + k], -weight);
      }
    }
    for (let y = 0; y < side; ++y)
      for (let x = 0, sum = 0; x < side; ++x) spot[y * side + x] = sum += steps[y * width + x];
  }

  // All spots of the codes 0 to `largest`, for a texture of WIDTH columns. starts[2 code] is where the spot of a code
  // begins, starts[2 code + 1] its reach; the spots of the next opening lie `each` weights farther.
  function table(shape, width, height, largest) {
    const {rows, columns, chords} = openings(shape, width, height);
    const extent = chords.reduce((most, each) => each.reduce((a, b) => Math.max(a, Math.abs(b)), most), 1);
    const starts = new Int32Array(2 * (largest + 1));
    let each = 0;
    for (let code = 0; code <= largest; ++code) {
      const reach = reachOf(code, extent);
      starts.set([each, reach], 2 * code);
      each += (2 * reach + 1) ** 2;
    }
    const weights = new Float32Array(Math.ceil(each * chords.length / WIDTH) * WIDTH);
    for (const [place, ends] of chords.entries())
      for (let code = 0; code <= largest; ++code) {
        const reach = starts[2 * code + 1], side = 2 * reach + 1, begin = place * each + starts[2 * code];
        if (code === 0) weights[begin] = 1;
        else draw(weights.subarray(begin, begin + side * side), side, reach, ends, radiusOf(code));
      }
    return {rows, columns, extent, each, starts, weights};
  }

  return {MOST_RADIUS, MOST_CODE, WIDTH, radiusOf, codeOf, reachOf, table};
})();
