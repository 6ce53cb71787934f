// What the page shows now. Parts of the page change it and tell the others by an event.
const Model = (() => {
  const listeners = {};
  const model = {
    server: null,          // what api/state told
    shots: new Map(),      // by id, in order
    shot: null,            // the one that is shown
    photo: null,           // {width, height, values} as loaded, maybe smaller than the shot
    run: null, map: null, confidence: null, details: null, range: [0, 1],
    other: null,           // {run, map}: the run to compare with
    view: "wipe", tab: "look",
    kind: "turbo", unit: "px", iso: false, stripes: false, line: 0.5,
    levels: [0, 1, 1], bright: false,  // how a dark photo is shown brighter; whether it is
    brush: {kind: "near", radius: 24, disparity: null},
    calibrations: {},      // by id: what the calibration is, in words
  };
  // How a pair is matched: what the form of the tab Settings has, and what shots to come begin with.
  model.settings = {preset: "auto", range: null, filter: null, axis: null, layout: null, first: null,
                    mask_occluded: false, calibration: null, set: {}};
  model.first = structuredClone(model.settings);
  // What belongs to one shot and stays when another is shown.
  const fresh = () => ({focus: null, aperture: 4, shape: "disc", mask: null, strokes: [], known: []});
  const own = new Map();

  model.own = () => {
    const id = model.shot ? model.shot.id : "";
    if (!own.has(id)) own.set(id, fresh());
    return own.get(id);
  };
  model.forget = id => own.delete(id);
  model.metric = () => (model.details && model.details.metric) || null;
  model.shownUnit = () => (model.metric() ? model.unit : "px");
  model.on = (names, listener) => { for (const name of names.split(" ")) (listeners[name] ??= []).push(listener); };
  model.tell = (name, value) => { for (const listener of listeners[name] || []) listener(value); };
  model.set = (values, event = "look") => { Object.assign(model, values); model.tell(event); };
  return model;
})();
