// Tab "Save": every format, the refocused picture, a page for a friend, and the command that gives the same bytes.
const SaveTab = (() => {
  const {make, section, hint, button, select, number} = Dom;
  const GROUPS = {refocus: "Refocused picture", map: "Depth map, px", depth: "Depth map, metres", mask: "Mask",
                  preview: "Depth in colours", page: "Page for a friend", confidence: "Confidence",
                  hints: "Strokes of the brush", record: "Parameters and warnings"};
  const OPTIONS = {  // of the server: a list of choices, or the unit of a number
    png: {label: "Values", texts: {grey: "grey, 16 bit", grey8: "grey, 8 bit", kitti: "KITTI: disparity \u00d7 256",
                                   mm: "millimetres"}},
    near: {label: "Near is", texts: {}},
    fov: {label: "Angle of view of the longer side", texts: {}},
  };
  const ONLY_HERE = ["page", "hints", "record"];  // no command makes them
  const WORDS = {page: "One file with photo, depth and live refocusing. It opens from disk, without a network."};
  const chosen = {what: "map", suffix: null, options: {}};

  // Why this cannot be saved now, or "".
  function missing(what) {
    const own = Model.own();
    if (!Model.run) return "The map is not ready yet.";
    if (what === "refocus" && !own.focus) return "Click where it should be sharp first.";
    if (what === "hints" && !Model.run.hints) return "Paint a stroke and solve again first.";
    if (what === "depth" && !Model.metric()) return "Give a known distance first: tab Look, Unit.";
    return "";
  }
  function body() {
    const {focus = null, focusDisparity = null, aperture, shape, mask} = Model.own();
    const {from = null, to = null, soft = 0} = mask || {};
    return {suffix: chosen.suffix, what: chosen.what, options: chosen.options,
            look: {focus, focus_disparity: focus ? focusDisparity : null, aperture, shape, from, to, soft}};
  }
  function download({name, blob}) {
    const address = URL.createObjectURL(blob), link = make("a", {href: address, download: name});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }
  async function save(from, wanted = body()) {
    from.disabled = true;
    Dom.say("Saving");
    try {
      const file = await Api.exported(Model.run.id, wanted);
      download(file);
      Dom.toast(`Saved ${file.name}`);
      Dom.say(`Saved ${file.name}`);
    } catch (error) {
      Dom.toast(error.message, true);
    }
    from.disabled = false;
  }
  async function copy(into) {
    try {
      const {command, needs = [], saves = []} = await Api.command(Model.run.id, body());
      into.replaceChildren(make("pre", {tabindex: "0"}, command),
        ...(needs.length ? [hint(`It needs ${needs.join(", ")} in the folder where it runs.`)] : []),
        ...saves.map(each => {
          const go = button(`Save ${each.name}`, () => save(go, {look: {}, ...each}));
          return go;
        }));
      await navigator.clipboard.writeText(command).then(() => Dom.toast("Command copied."),
        () => Dom.toast("The browser does not let the page copy: select the command."));
    } catch (error) {
      Dom.toast(error.message, true);
    }
  }
  function option(name, given) {
    const {label, texts} = OPTIONS[name] || {label: name, texts: {}};
    const change = value => { chosen.options[name] = value; };
    if (!Array.isArray(given)) return number(`${label}, ${given}`, chosen.options[name], change, {placeholder: "45"});
    chosen.options[name] ??= given[0];
    return select(label, given.map(key => [key, texts[key] || key]), chosen.options[name], change);
  }

  function build(root) {
    function fill() {
      const all = Model.server.exports;
      const groups = Object.keys(GROUPS).filter(what => all.some(each => each.what === what));
      if (!Model.shot || !groups.length) return root.replaceChildren(hint("Open a shot to save its depth."));
      if (!groups.includes(chosen.what)) chosen.what = groups[0];
      const mine = all.filter(each => each.what === chosen.what);
      const format = mine.find(each => each.suffix === chosen.suffix) || mine[0];
      if (chosen.suffix !== format.suffix) Object.assign(chosen, {suffix: format.suffix, options: {}});
      const texts = mine.map(({suffix, label}) => [suffix, `${suffix}   ${label}`]);
      const reason = missing(chosen.what), onlyHere = ONLY_HERE.includes(chosen.what);
      const command = make("div", {class: "command"});
      const go = button("Save", () => save(go), {class: "primary", disabled: Boolean(reason)});
      go.id = "save";
      const line = button("Copy as command", () => copy(command), {disabled: Boolean(reason)});
      return root.replaceChildren(
        section("What", select("Save", groups.map(what => [what, GROUPS[what]]), chosen.what, what => {
          Object.assign(chosen, {what, suffix: null, options: {}});
          fill();
        })),
        section("Format", select("Format", texts, format.suffix, suffix => {
          Object.assign(chosen, {suffix, options: {}});
          fill();
        }), ...Object.entries(format.options || {}).map(([name, each]) => option(name, each))),
        ...(reason ? [make("p", {class: "note"}, reason)] : []),
        make("div", {class: "row"}, ...(onlyHere ? [go] : [go, line])), command,
        hint(WORDS[chosen.what] || (reason || onlyHere ? "" : "The command gives the same bytes.")));
    }
    Model.on("save", what => { Object.assign(chosen, {what, suffix: null, options: {}}); Model.tell("open", "save"); });
    Model.on("shot map", fill);
    Model.on("tab", () => { if (Model.tab === "save") fill(); });
    fill();
  }
  return {name: "save", label: "Save", view: null, build};
})();
