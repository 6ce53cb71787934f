// Tab "Mask": a range of depth. What is outside is dimmed.
const MaskTab = (() => {
  const {make, section, hint, button, slider, check} = Dom;

  // Values below and above the colours' range, too: the sliders reach them.
  function reachOf() {
    const [low, high] = Model.range, [least, most] = Model.extremes ??= Maps.extremes(Model.map);
    const margin = (high - low) * 0.1;
    return [Math.min(least, low - margin), Math.max(most, high + margin)];
  }
  // A first range: the nearest third of the map, and all that is nearer.
  function begin() {
    const [low, high] = Model.range;
    return {from: low + (high - low) * 2 / 3, to: reachOf()[1], soft: (high - low) * 0.03, plain: false};
  }
  // Around what was clicked.
  function click(x, y) {
    const d = Maps.around(Model.map, x, y), reach = (Model.range[1] - Model.range[0]) * 0.08;
    if (!(d === d)) return;
    Object.assign(Model.own().mask, {from: d - reach, to: d + reach});
    Model.tell("mask");
    Model.tell("look");
  }
  function share({from, to}) {
    const {values} = Model.map, stride = Math.max(1, Math.floor(values.length / 300000));
    let inside = 0, n = 0;
    for (let at = 0; at < values.length; at += stride, n++) if (values[at] >= from && values[at] <= to) inside++;
    return 100 * inside / n;
  }

  function build(root) {
    const chart = Charts.box("Histogram of disparities with the range of the mask"), told = hint("");
    function fill() {
      if (!Model.map) return root.replaceChildren(hint("Open a shot to mask a range of its depth."));
      const own = Model.own(), mask = own.mask ??= begin(), [low, high] = Model.range;
      const [least, most] = reachOf(), unit = Model.shownUnit(), metric = Model.metric();
      const text = d => Units.text(unit, metric, d);
      function change(values) {
        Object.assign(mask, values);
        if (mask.from >= mask.to && "from" in values) mask.to = mask.from + 1e-3;
        if (mask.from >= mask.to) mask.from = mask.to - 1e-3;
        from.set(mask.from);
        to.set(mask.to);
        tell();
        Model.tell("look");
      }
      function tell() {
        chart.draw([mask.from, mask.to]);
        told.textContent = `${share(mask).toFixed(0)} % of the picture is inside.`;
      }
      const ends = {min: least, max: most, step: (most - least) / 1000, text};
      const from = slider("From (far)", {...ends, value: mask.from, input: value => change({from: value})});
      const to = slider("To (near)", {...ends, value: mask.to, input: value => change({to: value})});
      const soft = slider("Soft edge", {min: 0, max: (high - low) / 2, step: (high - low) / 500, value: mask.soft,
        text: d => `${d.toFixed(2)} px`, input: value => change({soft: value})});
      root.replaceChildren(
        make("p", {class: "big"}, "Choose a range of depth, or click a thing."),
        section("Range", chart, from, to, soft, told),
        check("Show as black and white", mask.plain, on => change({plain: on})),
        make("div", {class: "row"},
          button("Save mask\u2026", () => Model.tell("save", "mask"), {class: "primary"}),
          button("Start over", () => { own.mask = begin(); fill(); Model.tell("look"); })));
      return tell();
    }
    Model.on("map shot mask details", fill);
    Model.on("tab", () => { if (Model.tab === "mask") fill(); });
    fill();
    Stage.tool("mask", {click});
  }
  return {name: "mask", label: "Mask", view: "photo", build};
})();
