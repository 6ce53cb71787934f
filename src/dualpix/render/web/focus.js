// Tab "Focus": click where it should be sharp, choose the aperture and the shape of its opening.
const FocusTab = (() => {
  const {make, section, hint, button, slider, segments} = Dom;
  const RADIUS = 3 * Math.PI / 8, LARGEST = 512;  // blur radius, px, at 1 px of disparity; the largest disc, px

  function focus(x, y) {
    const d = Maps.around(Model.map, x, y);
    if (!(d === d)) return Dom.toast("Nothing is known of the depth there: click another point.", true);
    Object.assign(Model.own(), {focus: [x, y], focusDisparity: d});
    if (Model.tab !== "focus") Model.tell("open", "focus");
    Model.tell("focus");
    Model.tell("look");
    return Dom.say(`In focus: ${Units.text(Model.shownUnit(), Model.metric(), d)}`);
  }

  // The diameter of the largest disc at this focus, px, for aperture 1.
  function largest() {
    const own = Model.own(), [low, high] = Model.extremes ??= Maps.extremes(Model.map);
    return 2 * RADIUS * Math.max(Math.abs(low - own.focusDisparity), Math.abs(high - own.focusDisparity));
  }

  function build(root) {
    const told = make("p", {class: "big"}), discs = hint("");
    // The slider is logarithmic: equal steps are equal ratios.
    const aperture = slider("Aperture", {min: -1, max: 5, step: 0.05, value: 2,
      text: at => `\u00d7${(2 ** at).toPrecision(2)}`, input: at => change({aperture: +(2 ** at).toPrecision(3)})});
    aperture.range.id = "aperture";
    const shapes = segments("Shape of the opening",
      [["disc", "Disc"], ["hexagon", "Hexagon"], ["cat-eye", "Cat\u2019s eye"]], "disc", shape => change({shape}));
    const reset = button("As shot", () => { Model.own().focus = null; Model.tell("focus"); Model.tell("look"); });
    const save = button("Save picture\u2026", () => Model.tell("save", "refocus"), {class: "primary"});
    const controls = make("div", {}, section("Aperture", aperture, discs), section("Opening", shapes),
                          make("div", {class: "row"}, save, reset));

    function change(values) {
      const own = Model.own();
      Object.assign(own, values);
      const most = own.focus ? Math.floor(1000 * LARGEST / largest()) / 1000 : Infinity;
      own.aperture = Math.max(0.01, Math.min(own.aperture, most));
      update();
      Model.tell("look");
    }
    function update() {
      const own = Model.own();
      controls.hidden = !Model.map;
      if (!Model.map) {
        told.textContent = Model.shot ? "The depth is not ready yet." : "Open a shot first.";
        return;
      }
      told.textContent = own.focus
        ? `Sharp at ${Units.text(Model.shownUnit(), Model.metric(), own.focusDisparity)}`
        : "Click where it should be sharp.";
      aperture.set(Math.log2(own.aperture));
      shapes.set(own.shape);
      save.disabled = reset.disabled = !own.focus;
      discs.textContent = own.focus
        ? `Blur discs of up to ${(own.aperture * largest()).toFixed(0)} px. \u00d72 turns f/4 into f/2.`
        : "Relative to the lens that took the photo: \u00d72 turns f/4 into f/2.";
    }
    root.replaceChildren(told, Stage.viewer.gl ? controls : hint("Live refocusing needs WebGL2. Saving works."), );
    if (!Stage.viewer.gl) root.append(controls);
    Model.on("map", () => {
      const own = Model.own();
      Model.extremes = null;
      if (own.focus) own.focusDisparity = Maps.around(Model.map, ...own.focus);
      if (!(own.focusDisparity === own.focusDisparity)) own.focus = null;  // a hole of the new map
    });
    Model.on("map shot focus details", update);
    update();
    Stage.tool("focus", {click: focus});
  }
  return {name: "focus", label: "Focus", view: "photo", build, focus};
})();
