// Numbers of a map: {width, height, values}, Float32Array, px, larger is nearer, NaN is unknown.
const Maps = (() => {
  const HOLE = -1e30;  // stands for NaN on the graphics card, where NaN is not safe

  // The values at these shares (0 to 1) of all valid values. Large maps are sampled.
  function percentiles({values}, shares) {
    const stride = Math.max(1, Math.floor(values.length / 200000)), found = [];
    for (let at = 0; at < values.length; at += stride) if (values[at] === values[at]) found.push(values[at]);
    if (!found.length) return shares.map(() => 0);
    const sorted = Float32Array.from(found).sort();
    return shares.map(share => sorted[Math.round(share * (sorted.length - 1))]);
  }

  // The range of the colours, as that of the previews: the 1st to the 99th percentile.
  function range(map) {
    const [low, high] = percentiles(map, [0.01, 0.99]);
    return low < high ? [low, high] : [low - 0.5, high + 0.5];
  }

  function extremes({values}) {
    let low = Infinity, high = -Infinity;
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return low <= high ? [low, high] : [0, 0];
  }

  // How many valid values lie in each of n equal parts of the range.
  function histogram({values}, low, high, n) {
    const counts = new Float64Array(n), scale = n / (high - low);
    const stride = Math.max(1, Math.floor(values.length / 2000000));
    for (let at = 0; at < values.length; at += stride) {
      const bin = Math.floor((values[at] - low) * scale);
      if (bin >= 0 && bin < n) counts[bin]++;
    }
    return counts;
  }

  function at({width, height, values}, x, y) {
    const [i, j] = [Math.floor(x), Math.floor(y)];
    return i >= 0 && j >= 0 && i < width && j < height ? values[j * width + i] : NaN;
  }

  // The disparity to focus on: the median of 9x9 pixels, as `dualpix refocus --focus` takes it.
  function around({width, height, values}, x, y, reach = 4) {
    const found = [];
    for (let j = Math.max(0, y - reach); j <= Math.min(height - 1, y + reach); j++)
      for (let i = Math.max(0, x - reach); i <= Math.min(width - 1, x + reach); i++) {
        const value = values[j * width + i];
        if (value === value) found.push(value);
      }
    if (!found.length) return NaN;
    found.sort((a, b) => a - b);
    const half = found.length >> 1;
    return found.length % 2 ? found[half] : (found[half - 1] + found[half]) / 2;
  }

  // Half the size: the mean of the valid values of 2x2 pixels.
  function halved({width, height, values}) {
    const w = Math.max(1, width >> 1), h = Math.max(1, height >> 1), out = new Float32Array(w * h);
    const right = width > 1 ? 1 : 0, below = height > 1 ? width : 0;
    let sum, n;
    const add = value => { if (value > HOLE / 2) { sum += value; n++; } };
    for (let y = 0; y < h; y++)
      for (let x = 0; x < w; x++) {
        const from = 2 * y * below + 2 * x * right;
        sum = n = 0;
        add(values[from]);
        add(values[from + right]);
        add(values[from + below]);
        add(values[from + below + right]);
        out[y * w + x] = n ? sum / n : HOLE;
      }
    return {width: w, height: h, values: out};
  }

  const whole = map => map.values.every(value => value === value);

  // The same map with HOLE for NaN.
  function marked(map) {
    if (whole(map)) return map;
    return {...map, values: map.values.map(value => (value === value ? value : HOLE))};
  }

  // The map without holes: each takes the mean of the smallest neighbourhood, 2^k px wide, that has a value.
  function filled(map) {
    if (whole(map)) return map;
    const levels = [marked(map)];
    while (levels.at(-1).width > 1 || levels.at(-1).height > 1) levels.push(halved(levels.at(-1)));
    for (let k = levels.length - 2; k >= 0; k--) {
      const fine = levels[k], coarse = levels[k + 1], values = Float32Array.from(fine.values);
      for (let y = 0; y < fine.height; y++)
        for (let x = 0; x < fine.width; x++) {
          const index = y * fine.width + x;
          if (values[index] > HOLE / 2) continue;
          const [i, j] = [Math.min(x >> 1, coarse.width - 1), Math.min(y >> 1, coarse.height - 1)];
          values[index] = coarse.values[j * coarse.width + i];
        }
      levels[k] = {...fine, values};
    }
    return levels[0];
  }

  // How to show a dark photo (RGBA): [black, white, exponent], values 0 to 1. The outermost 1 % is cut, and the
  // exponent lifts the median to 0.4 at most.
  function brightness({values}) {
    const counts = new Uint32Array(256), stride = 4 * Math.max(1, Math.floor(values.length / 400000));
    let n = 0, sum = 0, low = -1, middle = -1, high = -1;
    for (let at = 0; at < values.length; at += stride, n++) counts[values[at + 1]]++;
    for (let value = 0; value < 256 && high < 0; value++) {
      sum += counts[value];
      if (low < 0 && sum > 0.005 * n) low = value;
      if (middle < 0 && sum > 0.5 * n) middle = value;
      if (sum >= 0.99 * n) high = Math.max(value, low + 1);
    }
    const lift = Math.log(0.4) / Math.log(Math.max(middle - low, 0.5) / (high - low));
    return [low / 255, high / 255, Math.min(1, Math.max(0.45, lift || 1))];
  }
  const DARK = 0.35;  // a photo without brighter parts is shown brighter
  const isDark = ([, white]) => white < DARK;

  return {brightness, isDark, range, extremes, histogram, at, around, halved, marked, filled};
})();
