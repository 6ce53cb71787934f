// The unit in which depth is told: px of disparity, metres or diopters. 1/z = inverse_focus + d inverse_scale.
const Units = (() => {
  const NAMES = {px: "px", m: "m", dpt: "dpt"};
  const minus = text => text.replace(/^-/, "\u2212");

  function diopters(metric, d) { return metric.inverse_focus + d * metric.inverse_scale; }

  // The number of a disparity in a unit; metres beyond infinity are infinite.
  function value(unit, metric, d) {
    if (unit === "px" || !metric) return d;
    const q = diopters(metric, d);
    return unit === "dpt" ? q : q > 0 ? 1 / q : Infinity;
  }

  function text(unit, metric, d) {
    if (!(d === d)) return "unknown";
    const number = value(unit, metric, d);
    if (number === Infinity) return "\u221e m";
    const digits = unit === "m" ? (number < 10 ? 2 : number < 100 ? 1 : 0) : 2;
    return `${minus(number.toFixed(digits))} ${NAMES[metric ? unit : "px"]}`;
  }

  // A round step that cuts the span of a unit into about n parts: 1, 2 or 5 times a power of 10.
  function step(span, n) {
    const raw = Math.abs(span) / n, power = 10 ** Math.floor(Math.log10(raw || 1));
    return power * ([1, 2, 5, 10].find(each => each * power >= raw) || 10);
  }

  // The end of a path: the file and its folder.
  const shortName = path => path.split(/[\\/]/).filter(Boolean).slice(-2).join("/");

  return {shortName, value, text, step, minus};
})();
