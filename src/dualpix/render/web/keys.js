// The keyboard: what each key does, and the list of them that "?" shows.
const Keys = (() => {
  const {make} = Dom;
  const views = {p: "photo", d: "depth", w: "wipe", c: "cloud", b: "ab"};
  const arrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
  const TYPED = "input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select";
  const TABLE = [
    ["Picture", [
      ["Arrow keys", "move the point; its values are shown"],
      ["Enter", "click there: focus, mask, or brush down and up"],
      ["Shift + arrows", "move the picture; in 3-D, arrows turn it"],
      ["+  \u2212", "zoom"], ["0", "fit the window"], ["9", "one screen pixel a photo pixel"],
      ["[  ]", "move the line between two pictures"]]],
    ["Show", [["p", "photo"], ["d", "depth"], ["w", "wipe"], ["c", "3-D"], ["b", "compare runs A and B"],
              ["i", "lines of equal depth"], ["u", "stripes where it is unsure"]]],
    ["Work", [["1 to 6", "the tabs"], [",  .", "aperture smaller, larger"], ["Ctrl + Z", "take back a stroke"],
              ["r", "run again"], ["Esc", "cancel the run"], ["n  N", "next shot, shot before"], ["o", "open files"],
              ["?", "this list"]]],
  ];

  function step(id, by) {
    const range = document.getElementById(id);
    range.value = +range.value + by;
    range.dispatchEvent(new Event("input"));
  }
  const once = {
    "+": () => Stage.zoom(1.25), "=": () => Stage.zoom(1.25), "-": () => Stage.zoom(0.8),
    0: Stage.fit, 9: Stage.actual,
    "[": () => Stage.setLine(Model.line - 0.02), "]": () => Stage.setLine(Model.line + 0.02),
    i: () => { Model.set({iso: !Model.iso}); Model.tell("toggles"); },
    u: () => { Model.set({stripes: !Model.stripes}); Model.tell("toggles"); },
    ",": () => step("aperture", -0.25), ".": () => step("aperture", 0.25),
    r: () => Model.tell("run"), o: () => Shots.pick(), n: () => Shots.next(1), N: () => Shots.next(-1),
    "?": show,
  };

  function onStage(event) {
    const arrow = arrows[event.key];
    if (arrow && (event.shiftKey || Model.view === "cloud")) {
      const by = Model.view === "cloud" && !event.shiftKey ? 24 : -60;
      Stage.pan(...arrow.map(part => part * by));
    } else if (arrow) Stage.move(...arrow);
    else if (event.key === "Enter" || event.key === " ") Stage.press();
    else return false;
    return true;
  }

  function press(event) {
    const {target} = event, typing = target.matches(TYPED);
    if (event.defaultPrevented || Dom.find("dialog[open]")) return;
    if (event.ctrlKey || event.metaKey) {
      if (event.key === "z" && Model.tab === "repair" && !typing) { event.preventDefault(); RepairTab.undo(); }
      return;
    }
    if (event.altKey || typing) return;
    if (event.key === "Escape") { Model.picking = null; Shots.cancel(); return; }
    const tab = "123456".indexOf(event.key);
    if (target.id === "marks" && onStage(event)) event.preventDefault();
    else if (tab >= 0) Model.tell("open", Model.tabs[tab].name);
    else if (views[event.key]) Model.tell("view", views[event.key]);
    else if (once[event.key]) { event.preventDefault(); once[event.key](); }
  }

  function show() { Dom.find("#keys").showModal(); }

  function start() {
    Dom.find("#keys .list").replaceChildren(...TABLE.map(([title, rows]) => make("section", {}, make("h3", {}, title),
      make("dl", {}, ...rows.flatMap(([key, text]) =>
        [make("dt", {}, ...key.split("  ").map(each => make("kbd", {}, each))), make("dd", {}, text)])))));
    addEventListener("keydown", press);
    Dom.find("#help").addEventListener("click", show);
    Dom.find("#keys button").addEventListener("click", () => Dom.find("#keys").close());
  }
  return {start};
})();
