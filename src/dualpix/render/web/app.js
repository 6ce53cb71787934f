// The page of `dualpix app`: tabs, views, what is told about the point under the pointer. Starts everything.
(() => {
  const {find, make} = Dom;
  const VIEWS = [["photo", "Photo"], ["depth", "Depth"], ["wipe", "Wipe"], ["ab", "A | B"], ["cloud", "3-D"]];
  const TABS = [LookTab, FocusTab, MaskTab, RepairTab, SettingsTab, SaveTab];
  const chosen = Object.fromEntries(TABS.map(({name, view}) => [name, view]));  // the view of each tab
  const narrow = window.matchMedia("(max-width: 45rem)");

  // ---- views ----
  const views = Dom.segments("View", VIEWS, Model.view, view);
  function view(name) {
    if (name === "ab" && !Model.other) return Dom.toast("Run again with other settings, then compare the two runs.");
    if (name === "cloud" && !Stage.cloud) return Dom.toast("The 3-D view needs WebGL2.");
    views.set(name);
    chosen[Model.tab] = name;
    return Model.set({view: name});
  }
  function viewButtons() {
    for (const button of views.buttons) {
      button.disabled = button.dataset.value !== "photo" && !Model.map;
      if (button.dataset.value === "ab") button.hidden = !Model.other;
    }
    if (Model.view === "ab" && !Model.other) view("wipe");
  }

  // ---- tabs ----
  const tabs = TABS.map(({name, label}, at) => make("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`,
    click: () => {
      if (narrow.matches && Model.tab === name) document.body.classList.toggle("folded");
      else open(name);
    },
    keydown: event => {
      const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (!by) return;
      event.preventDefault();
      const to = (at + by + TABS.length) % TABS.length;
      open(TABS[to].name);
      tabs[to].focus();
    },
  }, label));
  const panels = TABS.map(({name}) => make("div",
    {role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, tabindex: "0"}));

  function open(name) {
    document.body.classList.remove("folded");
    Model.tab = name;
    TABS.forEach((tab, at) => {
      const on = tab.name === name;
      tabs[at].setAttribute("aria-selected", String(on));
      tabs[at].tabIndex = on ? 0 : -1;
      panels[at].hidden = !on;
    });
    const shown = chosen[name];
    if (shown) { Model.view = shown; views.set(shown); }
    find("#stage").dataset.tab = name;
    Model.tell("tab");
    viewButtons();
  }

  // ---- the point under the pointer ----
  function readout(point) {
    const box = find("#readout");
    if (!point || !Model.photo) { box.hidden = true; return; }
    const [x, y] = point, {map, confidence} = Model, metric = Model.metric();
    const parts = [`${x}, ${y}`];
    if (map) {
      const d = Maps.at(map, x, y);
      parts.push(Units.text("px", null, d));
      if (metric && d === d) parts.push(Units.text("m", metric, d), Units.text("dpt", metric, d));
      if (confidence) parts.push(`confidence ${(Maps.at(confidence, x, y) / 255).toFixed(2)}`);
    }
    box.replaceChildren(...parts.map(text => make("span", {}, text)));
    box.hidden = false;
    if (Stage.cursor) Dom.say(parts.join(", "));
  }

  function legend(look) {
    const box = find("#legend"), coloured = [look.left, look.right].some(each => each === "depth" || each === "other");
    const shown = Model.map && Model.view !== "cloud" && coloured;
    box.hidden = !shown;
    if (!shown) return;
    const [low, high] = Model.range, metric = Model.metric(), unit = Model.shownUnit(), canvas = find("canvas", box);
    if (canvas.dataset.kind !== Model.kind) { Colours.paint(canvas, Model.kind); canvas.dataset.kind = Model.kind; }
    find(".low", box).textContent = `far ${Units.text(unit, metric, low)}`;
    find(".high", box).textContent = `${Units.text(unit, metric, high)} near`;
  }
  // At the line between two runs: which is which.
  function sides({line}) {
    const shown = Model.view === "ab" && Model.other && line !== null;
    const done = shown ? Model.shot.runs.filter(run => run.state === "done").map(run => run.id) : [];
    find("#stage").style.setProperty("--line", `${line}px`);
    for (const [name, run] of [["a", Model.run], ["b", Model.other && Model.other.run]]) {
      const label = find(`#side-${name}`);
      label.hidden = !shown;
      if (shown) label.textContent = `${name.toUpperCase()}: run ${done.indexOf(run.id) + 1}, ${run.settings.preset}`;
    }
  }
  function zoomText() {
    const flat = Model.view !== "cloud" || !Stage.cloud;
    const percent = 100 * (flat ? Stage.view.scale * (window.devicePixelRatio || 1) : Stage.cloud.near);
    find("#percent").textContent = `${percent < 10 ? percent.toFixed(1) : percent.toFixed(0)} %`;
  }
  function title() {
    const name = Model.shot ? Units.shortName(Model.shot.name) : "";
    find("#title").textContent = name;
    document.title = name ? `${name} \u2013 dualpix` : "dualpix";
  }

  function wire() {
    find("#views").append(views);
    find("#tabs").append(...tabs);
    find("#panels").append(...panels);
    find("#zoom-in").addEventListener("click", () => Stage.zoom(1.5));
    find("#zoom-out").addEventListener("click", () => Stage.zoom(1 / 1.5));
    find("#percent").addEventListener("click", () => (Stage.view.isFitted() ? Stage.actual() : Stage.fit()));
    Model.on("hover", readout);
    Model.on("drawn", look => { legend(look); sides(look); zoomText(); });
    Model.on("shot map other", viewButtons);
    Model.on("shot", () => { title(); readout(null); document.body.classList.toggle("empty", !Model.shot); });
    Model.on("view", view);
    Model.on("open", open);
  }

  async function start() {
    Model.tabs = TABS;
    const state = Api.state();  // comes while the graphics card gets ready
    wire();
    Stage.start();
    try {
      Model.server = await state;
    } catch (error) {
      Dom.toast(error.message, true);
      return;
    }
    TABS.forEach((tab, at) => tab.build(panels[at]));
    Keys.start();
    open("look");
    Shots.start();
    if (Model.server.notes && Model.server.notes.length) Dom.toast(Model.server.notes.join(" "), false, 12000);
    document.body.classList.add("ready");
  }
  start();
})();
