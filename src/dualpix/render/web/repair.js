// Tab "Repair": a brush that tells what the eye knows. Strokes are evidence; the map is solved again with them.
const RepairTab = (() => {
  const {make, section, hint, button, slider, segments, number} = Dom;
  let stroke = null;

  function press(x, y) {
    const {kind, radius, disparity} = Model.brush;
    const d = kind === "unknown" ? null : disparity ?? Maps.around(Model.map, Math.floor(x), Math.floor(y));
    if (kind === "near" && !(d === d)) {
      Dom.toast("Nothing is known where the stroke begins: begin elsewhere, or type a disparity.", true);
      stroke = null;
      return;
    }
    stroke = {kind, disparity: d, radius, points: [[round(x), round(y)]]};
    Model.own().strokes.push(stroke);
  }
  const round = value => Math.round(10 * value) / 10;
  function drag(x, y) {
    if (!stroke) return;
    const [lastX, lastY] = stroke.points.at(-1);
    if (Math.hypot(x - lastX, y - lastY) >= Math.max(1, stroke.radius / 4)) stroke.points.push([round(x), round(y)]);
  }
  function release(cancelled) {
    if (stroke && cancelled) Model.own().strokes.pop();
    stroke = null;
    Model.tell("strokes");
  }
  function undo() {
    Model.own().strokes.pop();
    Model.tell("strokes");
  }

  function build(root) {
    const list = make("ol", {class: "strokes"});
    const kinds = segments("What the brush tells", [["near", "As near as this"], ["unknown", "Unknown"]], "near",
      kind => { Model.brush.kind = kind; words(); });
    const told = hint(""), radius = slider("Brush radius", {min: 2, max: 200, step: 1, value: Model.brush.radius,
      text: px => `${px} px`, input: px => { Model.brush.radius = px; Model.tell("look"); }});
    const typed = number("Disparity, px (empty: as where the stroke begins)", null,
      value => { Model.brush.disparity = value; });
    const again = button("Solve again", () => Model.tell("run"), {class: "primary"});
    const back = button("Undo", undo);
    const clear = button("Clear", () => { Model.own().strokes.length = 0; Model.tell("strokes"); });

    function words() {
      typed.hidden = Model.brush.kind !== "near";
      told.textContent = Model.brush.kind === "near"
        ? "Begin where the depth is right and paint over what lies just as near."
        : "Paint what matching got wrong, such as a reflection. Its evidence is ignored, and the surroundings fill it.";
    }
    function update() {
      const {strokes} = Model.own();
      list.replaceChildren(...strokes.map(each => make("li", {}, each.kind === "near"
        ? `as near as ${Units.text(Model.shownUnit(), Model.metric(), each.disparity)}` : "unknown")));
      list.hidden = !strokes.length;
      back.disabled = clear.disabled = !strokes.length;
      again.disabled = !Model.map || (!strokes.length && !(Model.run && Model.run.hints));
    }
    root.replaceChildren(
      make("p", {class: "big"}, "Paint what you know better."),
      section("Brush", kinds, told, radius, typed),
      section("Strokes", list, make("div", {class: "row"}, again, back, clear)),
      hint("Two fingers, or Shift and drag, move the picture."));
    Model.on("strokes map shot details", update);
    Model.on("map", () => {
      const most = Math.max(20, Math.round(Math.max(Model.map.width, Model.map.height) / 8));
      radius.range.max = most;
      if (!Model.own().strokes.length) radius.set(Model.brush.radius = Math.max(3, Math.round(most / 5)));
    });
    words();
    update();
    Stage.tool("repair", {press, drag, release});
  }
  return {name: "repair", label: "Repair", view: "depth", build, undo};
})();
