// Refocusing for the stage: asks the shader for the part that is seen, quick while something moves, then exact.
function Lens(gl, redraw) {
  const PAUSE = 250;  // ms without a change, after which the exact picture is made
  let shader = null, broken = false, loaded = false, wanted = null, key = "", drawn = "", seen = null, timer = 0;

  // Photo and map of the model have changed.
  function forget() {
    clearTimeout(timer);
    loaded = false;
    key = drawn = "";
    seen = null;
  }

  // Take photo and map, if both are there, when they are first needed: a map is on the screen sooner without. The photo
  // may be smaller than the map.
  function load() {
    const {photo, map} = Model;
    if (loaded || broken || !photo || !map) return;
    try {
      shader ??= Refocus(gl);
    } catch (error) {
      broken = true;
      Dom.toast(error.message, true);
      return;
    }
    shader.setPhoto({width: photo.width, height: photo.height, rgba: photo.values});
    shader.setMap({width: map.width, height: map.height, disparity: Maps.filled(map).values});
    loaded = true;
  }

  // One turn of work. Without a result the shader is still busy, and the next turn comes soon.
  function work(quality) {
    const given = shader.render({...wanted, quality});
    if (given === seen || given.view.quality !== quality) return again(quality, 0);
    seen = given;
    drawn = `${quality} ${key}`;
    if (quality === "fast") again("full", PAUSE);
    return redraw();
  }
  function again(quality, pause) {
    clearTimeout(timer);
    timer = setTimeout(work, pause, quality);
  }

  // The picture for this view: {texture, x, y, width, height}, or null if nothing is in focus yet. A better one may
  // come: then the stage is drawn again.
  function update(view) {
    const own = Model.own();
    if (own.focus) load();
    if (!loaded || !own.focus) return null;
    const scale = Math.min(1, view.scale * (window.devicePixelRatio || 1));
    wanted = {focus: own.focusDisparity, aperture: own.aperture, shape: own.shape, ...view.seen(), scale};
    const now = JSON.stringify(wanted);
    if (now !== key) {
      key = now;
      work("fast");
    }
    return seen && {texture: seen.texture, ...seen.view};
  }
  return {forget, update, busy: () => !broken && drawn !== `full ${key}`};
}
