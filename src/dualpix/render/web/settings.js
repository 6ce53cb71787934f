// Tab "Settings": how the pair is matched, in plain words; run again; compare two runs.
const SettingsTab = (() => {
  const {make, section, hint, button, select, number, check} = Dom;

  function wordsOf(list, name) { return (list.find(each => each.name === name) || {}).words || ""; }

  function range(settings) {
    const pair = settings.range || [null, null];
    function change(at, value) {
      pair[at] = value;
      settings.range = pair[0] !== null && pair[1] !== null ? pair : null;
    }
    const searched = Model.details && Model.details.searched;
    const [low, high] = searched ? searched.map(d => Units.minus(d.toFixed(1))) : [];
    return make("div", {},
      make("div", {class: "pair"}, number("From, px", pair[0], value => change(0, value), {placeholder: "auto"}),
           number("To, px", pair[1], value => change(1, value), {placeholder: "auto"})),
      hint(searched ? `Empty: as the preset has it, or found in the picture. This map: ${low} to ${high} px.`
                    : "Empty: as the preset has it, or found in the picture."));
  }

  function calibration(settings) {
    const chosen = settings.calibration && (Model.calibrations[settings.calibration] || "A calibration is used.");
    const told = hint(chosen || "Corrects vignetting and the lens. Made by dualpix calibrate.");
    const input = make("input", {type: "file", "aria-label": "Calibration file", change: async () => {
      if (!input.files.length) return;
      try {
        const {id, words} = await Api.calibration(input.files[0]);
        settings.calibration = id;
        Model.calibrations[id] = words;
        Model.tell("settings");
      } catch (error) {
        Dom.toast(error.message, true);
        input.value = "";
      }
    }});
    const none = button("Without calibration", () => {
      settings.calibration = null;
      Model.tell("settings");
    }, {class: "plain"});
    return section("Calibration", input, told, settings.calibration ? none : null);
  }

  // name=value, one a line, for those who know the parameters
  function overrides(settings) {
    const text = make("textarea", {rows: "3", spellcheck: "false", placeholder: "window=9.5\npenalty=8000",
      "aria-label": "Parameters, name=value, one a line", change: () => {
        settings.set = Object.fromEntries(text.value.split("\n").map(line => line.split("="))
          .filter(([name]) => name.trim()).map(([name, ...value]) => [name.trim(), value.join("=").trim()]));
      }});
    text.value = Object.entries(settings.set).map(([name, value]) => `${name}=${value}`).join("\n");
    return text;
  }

  function more(settings) {
    const set = name => value => { settings[name] = value || null; };
    return make("details", {class: "fold"}, make("summary", {}, "More"),
      select("Views differ along", [["", "found by itself"], ["x", "x: left and right"], ["y", "y: up and down"]],
             settings.axis || "", set("axis")),
      select("One picture holds both views",
             [["", "found by itself"], ["side-by-side", "side by side"], ["top-bottom", "one above the other"]],
             settings.layout || "", set("layout")),
      select("The first view in one file", [["", "found by itself"], ["left", "left"], ["right", "right"]],
             settings.first || "", set("first")),
      check("Leave out what only one view sees", settings.mask_occluded, on => { settings.mask_occluded = on; }),
      make("div", {class: "field"}, make("span", {}, "Parameters"), overrides(settings)));
  }

  function words({preset, range: own, filter, set = {}, calibration: lens}) {
    return [preset, own && `${own[0]} to ${own[1]} px`, filter && filter !== "none" && `filter ${filter}`,
            lens && "calibrated", ...Object.entries(set).map(([name, value]) => `${name}=${value}`)].filter(Boolean);
  }

  // Shots to come begin with the preset auto, or with what the form has now.
  function fresh() {
    if (!Model.shot) return null;
    const same = JSON.stringify(Model.settings) === JSON.stringify(Model.first);
    const told = hint(`Shots that you open next begin with ${words(Model.first).join(", ")}.`);
    return make("div", {}, told, same ? null : button("Use these for new shots", () => {
      Model.first = structuredClone(Model.settings);
      Model.tell("settings");
    }, {class: "plain"}));
  }

  // ---- runs ----
  function told(run) {
    return [...words(run.settings || {}), run.hints && `${run.hints} ${run.hints === 1 ? "stroke" : "strokes"}`,
            run.seconds && `${run.seconds.toFixed(1)} s`].filter(Boolean).join(" \u00b7 ");
  }
  function runs() {
    const done = Model.shot ? Model.shot.runs.filter(run => run.state === "done") : [];
    if (done.length < 2) return null;
    const radio = (side, run, chosen, pick) => {
      const input = make("input",
        {type: "radio", name: `run-${side}`, "aria-label": `${side}: run ${told(run)}`, change: pick});
      input.checked = chosen;
      return make("td", {}, input);
    };
    const rows = done.map((run, at) => make("tr", {},
      radio("A", run, Model.run && Model.run.id === run.id, () => Loader.choose(run)),
      radio("B", run, Model.other && Model.other.run.id === run.id, () => Loader.compare(run)),
      make("th", {scope: "row"}, `${at + 1}. ${told(run)}`)));
    const head = make("tr", {}, ...["A", "B", "Run"].map(text => make("th", {scope: "col"}, text)));
    return section("Compare runs", make("table", {class: "runs"}, make("thead", {}, head), make("tbody", {}, ...rows)),
      button("Wipe A | B", () => Model.tell("view", "ab"), {class: "wide"}));
  }

  function build(root) {
    const compare = make("div");
    function fill() {
      const {settings, server} = Model, shown = hint(wordsOf(server.presets, settings.preset));
      const filters = [["", "as the preset has it"], ...server.filters.map(({name}) => [name, name])];
      const filtered = hint(wordsOf(server.filters, settings.filter || ""));
      root.replaceChildren(
        section("Camera", select("Preset", server.presets.map(({name}) => [name, name]), settings.preset, name => {
          settings.preset = name;
          shown.textContent = wordsOf(server.presets, name);
        }), shown),
        section("Range of disparities", range(settings)),
        section("Smoothing", select("Filter", filters, settings.filter || "", name => {
          settings.filter = name || null;
          filtered.textContent = wordsOf(server.filters, name);
        }), filtered),
        calibration(settings),
        more(settings),
        button("Run again", () => Model.tell("run"), {class: "primary wide", disabled: !Model.shot}),
        fresh(),
        compare);
      update();
    }
    function update() { compare.replaceChildren(...[runs()].filter(Boolean)); }
    Model.on("shot map settings", fill);
    Model.on("runs other", update);
    fill();
  }
  return {name: "settings", label: "Settings", view: "wipe", build};
})();
