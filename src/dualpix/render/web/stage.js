// The picture: view, drawing and gestures together. It draws once a frame, and only when something changed.
const Stage = (() => {
  const stage = {view: View(), viewer: null, cloud: null, lens: null, cursor: null};
  let overlay, asked = "", brush = null, held = null;  // held: the tool that has the pointer
  const tools = {};  // by tab: {click(x, y), press(x, y), drag(x, y), release(cancelled)}; photo px

  const box = Dom.find("#stage"), handle = Dom.find("#wipe");
  const inside = (x, y) => x >= 0 && y >= 0 && x < stage.view.width && y < stage.view.height;
  const tool = () => (Model.map && Model.view !== "cloud" && tools[Model.tab]) || {};

  // Left and right end of what is seen of the photo, CSS px: between them the line moves.
  function ends() {
    const {view} = stage;
    return [Math.max(0, view.toScreen(0, 0)[0]), Math.min(view.stage.width, view.toScreen(view.width, 0)[0])];
  }
  const lineAt = () => ends()[0] + Model.line * (ends()[1] - ends()[0]);

  // Which layers the two sides of the line show.
  function layers() {
    if (!Model.map) return ["photo", "photo", false];
    const picture = Model.own().focus && Model.tab !== "mask" ? "focus" : "photo";  // masks need sharp outlines
    if (Model.tab === "mask" && Model.own().mask?.plain) return ["mask", "mask", false];
    if (Model.view === "photo") return [picture, picture, false];
    if (Model.view === "depth") return ["depth", "depth", false];
    if (Model.view === "ab" && Model.other) return ["depth", "other", true];
    return [picture, "depth", true];
  }

  function look() {
    const [left, right, line] = layers(), style = getComputedStyle(box);
    const outside = style.backgroundColor.match(/[\d.]+/g).slice(0, 3).map(part => part / 255);
    const mask = Model.tab === "mask" ? Model.own().mask : null, unit = Model.shownUnit();
    const [low, high] = Model.range, metric = Model.metric();
    const span = Units.value(unit, metric, high) - Units.value(unit, metric, low);
    return {
      left, right, line: line ? lineAt() : null, kind: Model.kind, range: Model.range, metric, outside, mask,
      iso: Model.iso && Model.map ? Units.step(Number.isFinite(span) ? span : 4, 10) : 0, isoUnit: unit,
      stripes: Model.stripes && Model.map !== null,
      focused: null, levels: Model.bright ? Model.levels : [0, 1, 1],
    };
  }

  const isCloud = () => Boolean(Model.view === "cloud" && Model.map && stage.cloud);

  function drawMarks() {
    const own = Model.own(), flat = !isCloud(), on = tab => flat && Model.tab === tab;
    overlay.draw(stage.view, {
      focus: on("focus") ? own.focus : null,
      known: on("look") ? own.known : [],
      strokes: on("repair") ? own.strokes : [],
      solved: Model.run ? Model.run.hints || 0 : 0,
      brush: on("repair") && Model.map ? brush : null,
      cursor: flat ? stage.cursor : null,
    });
  }

  function drawPicture() {
    const now = look(), cloudy = isCloud(), {view} = stage;
    if (cloudy) stage.cloud.draw(view, now);
    else {
      if (now.left === "focus" || now.right === "focus") now.focused = stage.lens && stage.lens.update(view);
      stage.viewer.draw(view, now);
    }
    handle.hidden = cloudy || now.line === null || !Model.photo;
    if (!handle.hidden) {
      const [top, bottom] = [view.toScreen(0, 0)[1], view.toScreen(0, view.height)[1]];
      for (const [name, at] of [["--x", now.line], ["--top", Math.max(0, top)],
                                ["--bottom", Math.max(0, view.stage.height - bottom)]])
        handle.style.setProperty(name, `${at}px`);
      handle.setAttribute("aria-valuenow", String(Math.round(100 * Model.line)));
    }
    Model.tell("drawn", now);
  }

  // Draw in the next frame: all of it, or the marks alone.
  function ask(all) {
    if (!asked) requestAnimationFrame(() => {
      const picture = asked === "all";
      asked = "";
      if (picture) drawPicture();
      drawMarks();
    });
    if (!asked || all) asked = all ? "all" : "marks";
  }
  stage.redraw = () => ask(true);
  const remark = () => ask(false);

  function hover([sx, sy]) {
    const [x, y] = stage.view.toPhoto(sx, sy);
    if (tool().press) { brush = {x, y, radius: Model.brush.radius}; remark(); }
    if (stage.cursor) { stage.cursor = null; remark(); }
    Model.tell("hover", inside(x, y) && Model.view !== "cloud" ? [Math.floor(x), Math.floor(y)] : null);
  }
  const gestures = {
    hover,
    leave: () => { brush = null; Model.tell("hover", null); remark(); },
    grab: on => box.classList.toggle("grabbed", on),
    press: (at, event) => {
      const own = tool();
      if (!own.press || event.shiftKey) return false;
      held = own;
      held.press(...stage.view.toPhoto(...at));
      remark();
      return true;
    },
    drag: at => { held.drag(...stage.view.toPhoto(...at)); remark(); },
    release: cancelled => { held.release(cancelled); remark(); },
    click: at => {
      const [x, y] = stage.view.toPhoto(...at).map(Math.floor);
      if (tool().click && inside(x, y)) tool().click(x, y);
    },
    pan: (dx, dy, event) => {
      if (Model.view !== "cloud") stage.view.pan(dx, dy);
      else if (stage.cloud) (event.shiftKey || event.buttons & 6 ? stage.cloud.shift : stage.cloud.orbit)(dx, dy);
      stage.redraw();
    },
    pinch: (factor, x, y, dx, dy) => {
      if (Model.view !== "cloud") { stage.view.zoom(factor, x, y); stage.view.pan(dx, dy); }
      else if (stage.cloud) { stage.cloud.zoom(factor); stage.cloud.shift(dx, dy); }
      stage.redraw();
    },
    wheel: (factor, x, y) => gestures.pinch(factor, x, y, 0, 0),
  };

  stage.zoom = factor => gestures.pinch(factor, stage.view.stage.width / 2, stage.view.stage.height / 2, 0, 0);
  stage.fit = () => {
    if (Model.view === "cloud" && stage.cloud) stage.cloud.reset(); else stage.view.fit();
    stage.redraw();
  };
  stage.actual = () => { stage.view.zoomTo(1 / (window.devicePixelRatio || 1)); stage.redraw(); };
  stage.pan = (dx, dy) => gestures.pan(dx, dy, {});

  // The point that the arrow keys move; it starts in the middle.
  stage.move = (dx, dy) => {
    const {view} = stage, step = Math.max(1, Math.round(8 / view.scale));
    const [x, y] = stage.cursor || [view.x, view.y].map(Math.floor);
    const within = (at, size) => Math.min(size - 1, Math.max(0, at));
    stage.cursor = [within(x + dx * step, view.width), within(y + dy * step, view.height)];
    view.reveal(...stage.cursor);
    if (tool().press) brush = {x: stage.cursor[0] + 0.5, y: stage.cursor[1] + 0.5, radius: Model.brush.radius};
    if (tool().drag && stage.drawing) tool().drag(...stage.cursor);
    Model.tell("hover", stage.cursor);
    stage.redraw();
  };
  stage.press = () => {
    const own = tool();
    if (!stage.cursor) stage.move(0, 0);
    if (own.click) return own.click(...stage.cursor);
    if (!own.press) return undefined;
    if (stage.drawing) own.release(false); else own.press(...stage.cursor);
    stage.drawing = !stage.drawing;
    Dom.say(stage.drawing ? "Brush down: arrow keys draw, Enter ends the stroke." : "Stroke ended.");
    return stage.redraw();
  };
  stage.tool = (tab, own) => { tools[tab] = own; };

  // Move the line to a share, 0 to 1.
  stage.setLine = share => Model.set({line: Math.min(1, Math.max(0, share))});

  function wireHandle() {
    Line(handle, () => ends().map(end => box.getBoundingClientRect().left + end), stage.setLine);
    handle.addEventListener("keydown", event => {
      const to = {ArrowLeft: Model.line - 0.02, ArrowRight: Model.line + 0.02, Home: 0, End: 1}[event.key];
      if (to === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      stage.setLine(to);
    });
  }

  stage.start = () => {
    const canvas = Dom.find("#picture");
    stage.viewer = Viewer(canvas);
    if (stage.viewer) stage.cloud = Cloud(stage.viewer);
    else {
      stage.viewer = Plain(canvas);
      Dom.find("#nogl").hidden = false;
    }
    Model.most = stage.viewer.most;
    canvas.addEventListener("webglcontextlost",
      () => Dom.toast("The graphics card was reset: load the page again.", true));
    overlay = Overlay(Dom.find("#marks"));
    stage.lens = stage.viewer.gl ? Lens(stage.viewer.gl, stage.redraw) : null;
    Gestures(Dom.find("#marks"), gestures);
    wireHandle();
    new ResizeObserver(() => { stage.view.resize(box.clientWidth, box.clientHeight); stage.redraw(); }).observe(box);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", stage.redraw);
    Model.on("look tab strokes", stage.redraw);
    Model.on("tab shot", () => {  // a brush that the keys put down comes up
      if (stage.drawing) tools.repair.release(false);
      stage.drawing = false;
    });
    Model.on("shot", () => {
      for (const clear of ["setPhoto", "setMap", "setOther", "setConfidence"]) stage.viewer[clear](null);
      if (stage.lens) stage.lens.forget();
      if (Model.shot && Model.shot.width) stage.view.photo(Model.shot.width, Model.shot.height);
      stage.cursor = null;
      stage.redraw();
    });
    Model.on("photo", () => {
      stage.view.photo(Model.shot.width, Model.shot.height);
      stage.viewer.setPhoto(Model.photo);
      Model.levels = Maps.brightness(Model.photo);
      Model.bright = Maps.isDark(Model.levels);
      if (stage.lens) stage.lens.forget();
      stage.redraw();
    });
    Model.on("map", () => {
      stage.viewer.setMap(Model.map);
      stage.viewer.setConfidence(Model.confidence);
      if (stage.lens) stage.lens.forget();
      Model.tell("other");
    });
    Model.on("other", () => { stage.viewer.setOther(Model.other && Model.other.map); stage.redraw(); });
  };
  return stage;
})();
