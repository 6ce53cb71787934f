// Shots: opening files, the film strip, the progress of runs, and what the server tells about them.
const Shots = (() => {
  const {find, make, button} = Dom;
  const THUMB = 120;  // px
  const ALONE = "Two views are dropped together. If this picture holds both, tell how: Settings, More.";
  const thumbs = new Map(), closed = new Set();

  const busy = shot => shot && shot.run && (shot.run.state === "waiting" || shot.run.state === "running");

  // ---- open ----
  async function open(files) {
    const {limits} = Model.server, list = [...files];
    const large = list.find(file => file.size > limits.file_bytes);
    const most = `${Math.round(limits.file_bytes / 1e6)} MB`;
    if (large) return Dom.toast(`${large.name}: is larger than ${most}: open it with dualpix app FILE instead.`, true);
    for (const shot of Pairing.shots(list)) await take(Api.open(shot, Model.shot ? Model.first : Model.settings));
    return undefined;
  }
  async function take(coming) {
    try {
      const shot = await coming;
      put(shot);
      Loader.show(Model.shots.get(shot.id));
      Model.tell("shots");
    } catch (error) {
      Dom.toast(error.message, true);
    }
  }
  const sample = () => take(Api.sample());

  // ---- what the server tells ----
  // Replies and events overtake each other, so the later state of a run stays: it waits, runs, and ends once.
  const progressOf = run => ({waiting: 0, running: 1 + run.share}[run.state] ?? 3);
  const later = (one, other) => (one && progressOf(one) > progressOf(other) ? one : other);
  const age = runs => (runs.length ? +runs.at(-1).id.slice(1) : 0);

  function put(shot) {
    const known = Model.shots.get(shot.id);
    if (!known) { Model.shots.set(shot.id, shot); return shot; }
    const runs = (age(known.runs) > age(shot.runs) ? known : shot).runs
      .map(run => later(known.runs.find(each => each.id === run.id), run));
    return Object.assign(known, shot, {width: shot.width ?? known.width, height: shot.height ?? known.height,
                                       camera: shot.camera || known.camera,
                                       brightened: shot.brightened || known.brightened, runs,
                                       run: runs.at(-1) || null});
  }
  // All that the server knows, which has what was told before this page listened. `before`: shots known when it was
  // asked.
  function putAll(shots, before = []) {
    for (const id of before) if (!shots.some(shot => shot.id === id)) gone(id);
    for (const shot of shots) if (!closed.has(shot.id)) put(shot);
    if (Model.shot) Loader.update(Model.shot); else Loader.show(Model.shots.values().next().value || null);
    Model.tell("runs");
    Model.tell("shots");
  }
  function hear(event) {
    const told = JSON.parse(event.data);
    if (told.type === "gone") gone(told.id);
    if (told.type === "shot") {
      const shot = put(told.shot);
      if (!Model.shot) Loader.show(shot); else if (Model.shot.id === shot.id) Loader.update(shot);
      Model.tell("shots");
    }
    if (told.type === "run") ran(told.run);
  }
  function ran(told) {
    const shot = Model.shots.get(told.shot);
    if (!shot) return;
    const at = shot.runs.findIndex(each => each.id === told.id), before = shot.runs[at], run = later(before, told);
    if (at < 0) shot.runs.push(run); else shot.runs[at] = run;
    if (!shot.run || shot.run.id === run.id || at < 0) shot.run = run;
    if (Model.shot && Model.shot.id === shot.id) {
      Loader.update(shot);
      if (!before || before.state !== run.state) Model.tell("runs");
      tell(run);
    }
    progress();
    if (!before || before.state !== run.state) Model.tell("shots");
  }
  function tell(run) {
    if (run.state === "running") Dom.say(`${run.step}, ${Math.round(run.share * 10) * 10} percent`);
    if (run.state === "done") Dom.say("The map is ready.");
    if (run.state === "failed") Dom.say(run.error);
    if (run.state === "cancelled") Dom.say("The run was cancelled.");
  }
  function gone(id) {
    closed.add(id);
    const order = [...Model.shots.keys()], at = order.indexOf(id);
    if (at < 0) return;
    Model.shots.delete(id);
    Model.forget(id);
    thumbs.delete(id);
    if (Model.shot && Model.shot.id === id)
      Loader.show(Model.shots.get(order[at + 1]) || Model.shots.get(order[at - 1]) || null);
    Model.tell("shots");
  }

  // ---- progress ----
  function progress() {
    const box = find("#progress"), run = Model.shot && Model.shot.run;
    const failed = run && run.state === "failed";
    box.hidden = !busy(Model.shot) && !failed;
    box.classList.toggle("failed", Boolean(failed));
    if (box.hidden) return;
    find("progress", box).hidden = failed;
    find("progress", box).value = run.share || 0;
    const now = run.state === "waiting" ? "waiting for the run before it" : run.step || "starting";
    find(".step", box).textContent = failed ? run.error : now;
    find(".percent", box).textContent = failed ? "" : `${Math.round(100 * (run.share || 0))} %`;
    find(".help", box).textContent = failed && Model.shot.files.length === 1 ? ALONE : "";
    find("button", box).textContent = failed ? "Close" : "Cancel";
  }
  const complain = error => Dom.toast(error.message, true);
  function cancel() { if (busy(Model.shot)) Api.cancel(Model.shot.run.id).catch(complain); }
  const close = shot => Api.close(shot.id).catch(complain);

  async function run() {
    if (!Model.shot) return;
    try {
      ran(await Api.run(Model.shot.id, Model.settings, Model.own().strokes));
    } catch (error) {
      Dom.toast(error.message, true);
    }
  }

  // ---- film strip ----
  async function thumb(shot, canvas) {
    if (!shot.width) return;
    const short = Math.min(shot.width, shot.height);
    const step = Math.min(64, Math.max(1, Math.floor(short / THUMB)));
    if (!thumbs.has(shot.id))
      thumbs.set(shot.id, Api.photo(shot.id, step).catch(() => { thumbs.delete(shot.id); return null; }));
    const found = await thumbs.get(shot.id);
    if (!found) return;
    const levels = Maps.brightness(found), [low, high, lift] = levels, shown = new Uint8ClampedArray(found.values);
    if (Maps.isDark(levels))
      shown.forEach((value, at) => {
        if (at % 4 < 3) shown[at] = 255 * Math.max(0, (value / 255 - low) / (high - low)) ** lift;
      });
    Object.assign(canvas, {width: found.width, height: found.height});
    canvas.getContext("2d").putImageData(new ImageData(shown, found.width, found.height), 0, 0);
  }
  function frame(shot) {
    const canvas = make("canvas", {width: "4", height: "3", "aria-hidden": "true"});
    thumb(shot, canvas);
    const state = shot.run ? shot.run.state : "", shown = Model.shot && Model.shot.id === shot.id;
    const name = make("span", {class: "name"}, Units.shortName(shot.name));
    const open = make("button", {type: "button", class: "frame-button", "aria-current": shown ? "true" : null,
      title: shot.name, click: () => Loader.show(shot)}, canvas, name);
    const cross = button("\u00d7", () => close(shot), {class: "close", 
      "aria-label": `Close ${shot.name}`, title: "Close"});
    return make("li", {class: `shot ${state}`}, open, cross);
  }
  function strip() {
    const list = find("#strip"), at = [...list.children].findIndex(each => each.contains(document.activeElement));
    list.replaceChildren(...[...Model.shots.values()].map(frame));
    if (at >= 0 && list.children[at]) find(".frame-button", list.children[at]).focus();
    const current = find("[aria-current]", list);
    if (current) current.scrollIntoView({block: "nearest", inline: "nearest"});
  }
  function next(by) {
    const order = [...Model.shots.values()], at = order.indexOf(Model.shot);
    const to = order[at + by];
    if (to) Loader.show(to);
  }

  function start() {
    const input = find("#files");
    input.addEventListener("change", () => { open(input.files); input.value = ""; });
    for (const each of document.querySelectorAll(".open")) each.addEventListener("click", () => input.click());
    find("#sample").addEventListener("click", sample);
    find("#progress button").addEventListener("click", () => (busy(Model.shot) ? cancel() : close(Model.shot)));
    Drop(open);
    Model.on("shots shot", () => {
      strip();
      progress();
      find("#welcome").hidden = Model.shots.size > 0;
      document.body.classList.toggle("many", Model.shots.size > 1);
    });
    Model.on("run", run);
    putAll(Model.server.shots);
    const events = Api.events();
    events.onmessage = hear;
    events.onerror = () => { find("#lost").hidden = false; };
    events.onopen = async () => {
      find("#lost").hidden = true;
      const before = [...Model.shots.keys()];
      putAll((await Api.state()).shots, before);
    };
  }
  return {start, open, sample, next, cancel, busy, pick: () => find("#files").click()};
})();
