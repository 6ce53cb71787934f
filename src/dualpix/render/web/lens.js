// Refocusing for the stage: asks the shader for the part that is seen, quick while something moves, then exact.
function Lens(gl, redraw) {
  const PAUSE = 250;  // ms without a change, after which the exact picture is made
  if (typeof Refocus === "undefined") return null;
  const shader = Refocus(gl);
  let loaded = false, key = "", made = null, timer = 0, full = false, fullKey = "";

  function load() {
    const {photo, map, shot} = Model;
    loaded = Boolean(photo && map && photo.width === shot.width && map.width === photo.width);
    key = "";
    made = null;
    if (!loaded) return;
    shader.setPhoto({width: photo.width, height: photo.height, rgba: photo.values});
    const whole = Maps.filled(map);
    shader.setMap({width: map.width, height: map.height, disparity: whole.values});
  }

  // The picture for this view: {texture, x, y, width, height}, or null if nothing is in focus yet.
  function update(view) {
    const own = Model.own();
    if (!loaded || !own.focus) return null;
    const region = view.seen(), scale = Math.min(1, view.scale * (window.devicePixelRatio || 1));
    const wanted = {focus: own.focusDisparity, aperture: own.aperture, shape: own.shape, ...region, scale};
    const now = JSON.stringify(wanted);
    if (now !== key) {
      key = now;
      full = false;
      fullKey = "";
      clearTimeout(timer);
      timer = setTimeout(() => { full = true; redraw(); }, PAUSE);
      made = {...shader.render({...wanted, quality: "fast"}), ...part(region)};
    } else if (full && fullKey !== now) {
      made = {...shader.render({...wanted, quality: "full"}), ...part(region)};
      if (shader.busy) redraw(); else fullKey = now;
    }
    return made;
  }
  const part = ({x, y, width, height}) => ({x, y, width, height});
  return {load, update, result: () => made, busy: () => full && shader.busy, progress: () => shader.progress};
}
