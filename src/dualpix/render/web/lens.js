// Refocusing for the stage: asks the shader for the part that is seen, quick while something moves, then exact.
function Lens(gl, redraw) {
  const PAUSE = 250;  // ms without a change, after which the exact picture is made
  let shader;
  try {
    shader = Refocus(gl);
  } catch (error) {
    Dom.toast(error.message, true);
    return null;
  }
  let loaded = false, key = "", drawn = "", seen = null, timer = 0, exact = false;

  // Take photo and map of the model, as soon as both are there at full size.
  function load() {
    const {photo, map, shot} = Model;
    loaded = Boolean(photo && map && photo.width === shot.width && map.width === photo.width);
    key = drawn = "";
    seen = null;
    if (!loaded) return;
    shader.setPhoto({width: photo.width, height: photo.height, rgba: photo.values});
    shader.setMap({width: map.width, height: map.height, disparity: Maps.filled(map).values});
  }

  // The picture for this view: {texture, x, y, width, height}, or null if nothing is in focus yet.
  function update(view) {
    const own = Model.own();
    if (!loaded || !own.focus) return null;
    const scale = Math.min(1, view.scale * (window.devicePixelRatio || 1));
    const wanted = {focus: own.focusDisparity, aperture: own.aperture, shape: own.shape, ...view.seen(), scale};
    const now = JSON.stringify(wanted);
    if (now !== key) {
      key = now;
      exact = false;
      clearTimeout(timer);
      timer = setTimeout(() => { exact = true; redraw(); }, PAUSE);
    }
    const goal = `${exact ? "full" : "fast"} ${now}`;
    if (drawn !== goal) {
      const given = shader.render({...wanted, quality: exact ? "full" : "fast"});
      if (given !== seen && given.view.quality === (exact ? "full" : "fast")) drawn = goal;  // else it is still at work
      seen = given;
      if (drawn !== goal) redraw();
    }
    return seen && {texture: seen.texture, ...seen.view};
  }
  return {load, update, busy: () => drawn !== `full ${key}`};
}
