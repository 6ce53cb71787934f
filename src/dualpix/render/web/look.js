// Tab "Look": colours, lines, confidence, units, the histogram, and what the run says about itself.
const LookTab = (() => {
  const {make, section, hint, button, check, segments} = Dom;

  // ---- distances ----
  function distances() {
    const own = Model.own(), box = make("details", {class: "fold"}, make("summary", {}, "Distances in metres"));
    box.open = own.known.length > 0;
    const rows = own.known.map((known, at) => make("div", {class: "row"},
      make("span", {class: "grow"}, `${known[0]}, ${known[1]} is ${known[2]} m away`),
      button("Remove", () => { own.known.splice(at, 1); measure(); }, {class: "plain"})));
    const metres = make("input", {type: "number", min: "0.01", step: "any", placeholder: "metres",
                                  "aria-label": "Distance of the point, metres", value: own.metres ?? "",
                                  input: () => { own.metres = metres.value; }});
    box.append(
      hint("Type how far a thing is, then click it in the picture. One point and the focus distance, or two points, " +
           "turn disparities into metres."),
      make("div", {class: "row"}, metres, button("Click the point\u2026", () => pick(+metres.value))),
      ...rows,
      Dom.number("Focus distance of the lens, m", own.focusDistance, value => { own.focusDistance = value; measure(); },
                 {min: "0.01"}),
      button("Use what the camera wrote (EXIF)", () => measure(true), {class: "wide"}),
    );
    return box;
  }
  function pick(metres) {
    if (!(metres > 0)) return Dom.toast("Type the distance of the point in metres first.", true);
    Model.picking = metres;
    Dom.toast(`Click the point that is ${metres} m away.`);
    return Dom.find("#marks").focus();
  }
  async function measure(exif = false) {
    const own = Model.own();
    Model.tell("look");
    if (!exif && own.known.length === 1 && !own.focusDistance) {
      Model.tell("details");
      return Dom.toast("One more point, or the focus distance of the lens, gives metres.");
    }
    try {
      const metric = await Api.metric(Model.run.id,
        {known: own.known, focus_distance: own.focusDistance ?? null, exif});
      Model.details.metric = metric;
      if (metric) Model.unit = "m";
    } catch (error) {
      Dom.toast(error.message, true);
    }
    Model.tell("details");
    return Model.tell("look");
  }
  // A new run of the shot takes over the distances that are known.
  function carry() {
    const own = Model.own();
    if (!Model.metric() && (own.known.length || own.focusDistance)) measure();
  }
  function click(x, y) {
    if (Model.picking) {
      Model.own().known.push([x, y, Model.picking]);
      Model.picking = null;
      Dom.find("#toast").hidden = true;
      return measure();
    }
    return FocusTab.focus(x, y);
  }

  // ---- words about the run ----
  // A warning may name a parameter to set: then a button does it.
  function advice(note) {
    const [, name, value] = note.match(/\bset (\w+)=([\w.]+)/) || [];
    if (!name) return null;
    return Dom.button(`Set ${name}=${value} and run again`, () => {
      Model.settings.set[name] = value;
      Model.tell("settings");
      Model.tell("run");
    });
  }
  function facts() {
    const {shot, details} = Model, notes = details.notes || [];
    const files = shot.files.map(Units.shortName).join(" + ");
    const about = [files, `${shot.width} \u00d7 ${shot.height}`, shot.camera].filter(Boolean);
    const table = make("table", {class: "facts"}, make("tbody", {}, ...parameters(details.record || {}).map(
      ([name, value]) => make("tr", {}, make("th", {scope: "row"}, name), make("td", {}, value)))));
    const metric = Model.metric();
    return section("This map",
      make("p", {}, details.summary || ""),
      make("p", {class: "hint"}, about.join(" \u00b7 ")),
      metric && metric.words ? hint(metric.words) : null,
      shot.brightened ? hint("The photo is dark. It is shown brighter on screen only.") : null,
      ...notes.flatMap(note => [make("p", {class: "note"}, note), advice(note)]),
      make("details", {class: "fold"}, make("summary", {}, "Parameters used"),
           make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Parameters used"}, table)));
  }
  const written = value => (typeof value === "number" ? String(+value.toPrecision(6))
    : typeof value === "object" && value !== null ? JSON.stringify(value) : String(value));
  function parameters(record) {
    const given = record.parameters || {};
    return [["preset", record.preset], ["version", record.dualpix || record.version], ...Object.entries(given)]
      .filter(([, value]) => value !== undefined).map(([name, value]) => [name, written(value)]);
  }

  function build(root) {
    const chart = Charts.box("Histogram of disparities, far to near");
    function fill() {
      if (!Model.map) {
        root.replaceChildren(hint(Model.shot ? "The map appears here when it is ready."
                                             : "Open a shot to look at its depth."));
        return;
      }
      const known = Boolean(Model.metric());
      const units = segments("Unit", [["px", "Pixels"], ["m", "Metres"], ["dpt", "Diopters"]], Model.shownUnit(),
        unit => { Model.set({unit}); Model.tell("details"); });
      for (const each of units.buttons.slice(1)) each.disabled = !known;
      const iso = check("Lines of equal depth", Model.iso, on => Model.set({iso: on}));
      const bright = check("Brighter photo, on screen only", Model.bright, on => Model.set({bright: on}));
      const stripes = check("Stripes where it is unsure", Model.stripes, on => Model.set({stripes: on}));
      root.replaceChildren(
        section("Depth", segments("Colours", Colours.kinds, Model.kind, kind => Model.set({kind})), iso, stripes,
          Model.levels[1] < 0.7 ? bright : null),
        section("Distribution", chart),
        section("Unit", units, known ? null : hint("Metres and diopters need a known distance."), distances()),
        facts());
      chart.draw();
    }
    Model.on("photo map details shot toggles", fill);
    Model.on("map", carry);
    Model.on("look", () => { if (Model.tab === "look" && Model.map) chart.draw(); });
    fill();
    Stage.tool("look", {click});
  }
  return {name: "look", label: "Look", view: "wipe", build};
})();
