// The histogram of disparities, in the colours of the map. A range of it may be marked.
const Charts = (() => {
  const BINS = 64;

  // Draw onto a canvas. marked: [from, to] in px of disparity, or null.
  function histogram(canvas, map, range, kind, marked = null) {
    const width = 288, height = 72, ratio = 2, pen = canvas.getContext("2d");
    Object.assign(canvas, {width: width * ratio, height: height * ratio});
    pen.scale(ratio, ratio);
    const [low, high] = range, counts = Maps.histogram(map, low, high, BINS), most = Math.max(1, ...counts);
    const colours = Colours.ramp(kind), wide = width / BINS;
    for (let bin = 0; bin < BINS; bin++) {
      const from = 4 * Math.round(bin * 255 / (BINS - 1)), d = low + (bin + 0.5) * (high - low) / BINS;
      const tall = counts[bin] ? Math.max(1.5, Math.sqrt(counts[bin] / most) * (height - 4)) : 0;
      pen.globalAlpha = marked && (d < marked[0] || d > marked[1]) ? 0.22 : 1;
      pen.fillStyle = `rgb(${colours[from]} ${colours[from + 1]} ${colours[from + 2]})`;
      pen.fillRect(bin * wide + 0.5, height - tall, wide - 1, tall);
    }
  }

  // A histogram with the numbers below it. `draw` must be called when the map or the look changes.
  function box(label) {
    const canvas = Dom.make("canvas", {class: "histogram", role: "img", "aria-label": label});
    const ends = [Dom.make("span"), Dom.make("span"), Dom.make("span")];
    const axis = Dom.make("div", {class: "axis"}, ...ends);
    function draw(marked) {
      if (!Model.map) return;
      histogram(canvas, Model.map, Model.range, Model.kind, marked);
      const [low, high] = Model.range, unit = Model.shownUnit(), metric = Model.metric();
      [low, (low + high) / 2, high].forEach((d, i) => { ends[i].textContent = Units.text(unit, metric, d); });
    }
    return Object.assign(Dom.make("div", {class: "chart"}, canvas, axis), {draw});
  }
  return {box};
})();
