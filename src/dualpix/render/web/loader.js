// Brings the pixels of a shot to the page: first a small photo, then all of it, then the map of its newest run.
const Loader = (() => {
  const FIRST = 1600;  // px, the longer side of the small photo
  let stop = null;     // ends what is loading
  let photoOf = null, mapOf = null, newest = null;

  async function quietly(work) {
    try {
      return await work;
    } catch (error) {
      if (error.name !== "AbortError") Dom.toast(error.message, true);
      return null;
    }
  }

  async function photo(shot, most) {
    if (photoOf === shot.id || !shot.width) return;
    photoOf = shot.id;
    const {signal} = stop, long = Math.max(shot.width, shot.height), best = Math.ceil(long / most);
    const small = Math.max(best, Math.ceil(long / FIRST));
    for (const step of new Set([small, best])) {
      const found = await quietly(Api.photo(shot.id, step, signal));
      if (!found || signal.aborted) { if (!signal.aborted) photoOf = null; return; }
      Model.set({photo: found}, "photo");
      if (step === best && best > 1)
        Dom.toast(`The graphics card holds ${most} px a side: this photo is shown at 1/${best} of its size.`);
    }
  }

  async function map(run) {
    if (mapOf === run.id) return;
    mapOf = run.id;
    const {signal} = stop;
    const found = await quietly(Promise.all(
      [Api.disparity(run.id, signal), Api.confidence(run.id, signal), Api.details(run.id)]));
    if (!found || signal.aborted) { if (!signal.aborted) mapOf = null; return; }
    const [disparity, confidence, details] = found;
    const other = Model.run && Model.run.id !== run.id ? {run: Model.run, map: Model.map} : Model.other;
    Model.set({run, map: disparity, confidence, details, range: Maps.range(disparity), other}, "map");
    const before = Model.shot.runs.filter(each => each.state === "done" && each.id !== run.id).at(-1);
    if (!other && before) compare(before);  // a page that was loaded again
  }

  // Show a shot: what it has now is loaded, and the rest when the server tells that it is there.
  function show(shot) {
    if (stop) stop.abort();
    stop = new AbortController();
    photoOf = mapOf = newest = null;
    const settings = structuredClone(shot && shot.run ? shot.run.settings : Model.first);
    const nothing = {photo: null, run: null, map: null, confidence: null, details: null, other: null};
    Model.set({shot, settings, ...nothing}, "shot");
    if (shot) update(shot);
  }

  function update(shot) {
    photo(shot, Model.most || 16384);
    const done = shot.runs.filter(run => run.state === "done").at(-1);
    if (!done || done.id === newest) return;
    newest = done.id;
    map(done);
  }

  // Show an earlier run, as A.
  function choose(run) {
    Model.settings = structuredClone(run.settings);
    return map(run);
  }

  async function compare(run) {
    if (!run) return Model.set({other: null}, "other");
    const found = await quietly(Api.disparity(run.id, stop.signal));
    if (found) Model.set({other: {run, map: found}}, "other");
  }

  return {show, update, choose, compare};
})();
