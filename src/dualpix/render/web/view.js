// What part of the photo the window shows. Screen points are CSS px from the top left of the stage. Photo points are
// px, and the pixel (i, j) reaches from i to i + 1. screen = (photo - centre) scale + stage / 2
function View() {
  const MOST = 64;  // CSS px a photo px
  const view = {scale: 1, x: 0, y: 0, width: 1, height: 1, stage: {width: 1, height: 1}};
  let fitted = true;

  const actual = () => 1 / (window.devicePixelRatio || 1);  // one screen px a photo px
  view.fitting = () => Math.min(view.stage.width / view.width,
                              view.stage.height / view.height);
  function settle() {
    const fit = Math.max(1e-4, view.fitting());  // a photo smaller than the window may be shown at its own size
    view.scale = fitted ? fit : Math.min(Math.max(view.scale, Math.min(fit, actual())), Math.max(MOST, fit));
    for (const [at, side] of [["x", "width"], ["y", "height"]]) {
      const half = view.stage[side] / 2 / view.scale, size = view[side];
      // A side that fits is centred; a larger one leaves no gap.
      view[at] = 2 * half >= size ? size / 2 : Math.min(Math.max(view[at], half), size - half);
    }
  }
  view.fit = () => { fitted = true; settle(); };
  view.isFitted = () => fitted;
  view.photo = (width, height) => {
    if (view.width === width && view.height === height) return;
    Object.assign(view, {width, height});
    view.fit();
  };
  view.resize = (width, height) => {
    view.stage = {width: Math.max(1, width), height: Math.max(1, height)};
    if (fitted) view.fit(); else settle();
  };
  view.toPhoto = (sx, sy) => [(sx - view.stage.width / 2) / view.scale + view.x,
                              (sy - view.stage.height / 2) / view.scale + view.y];
  view.toScreen = (x, y) => [(x - view.x) * view.scale + view.stage.width / 2,
                             (y - view.y) * view.scale + view.stage.height / 2];
  // The photo point under (sx, sy) stays there.
  view.zoom = (factor, sx = view.stage.width / 2, sy = view.stage.height / 2) => {
    const [x, y] = view.toPhoto(sx, sy);
    view.scale *= factor;
    fitted = view.scale <= view.fitting() && view.fitting() <= actual();
    settle();
    view.x = x - (sx - view.stage.width / 2) / view.scale;
    view.y = y - (sy - view.stage.height / 2) / view.scale;
    settle();
  };
  view.zoomTo = scale => view.zoom(scale / view.scale);
  view.pan = (dx, dy) => { view.x -= dx / view.scale; view.y -= dy / view.scale; settle(); };
  // Move so that a photo point is not close to the border.
  view.reveal = (x, y, margin = 40) => {
    const [sx, sy] = view.toScreen(x, y), {width, height} = view.stage;
    view.pan(Math.min(0, width - margin - sx) + Math.max(0, margin - sx),
             Math.min(0, height - margin - sy) + Math.max(0, margin - sy));
  };
  // The part of the photo that is seen: {x, y, width, height}, whole px.
  view.seen = () => {
    const [left, top] = view.toPhoto(0, 0), [right, bottom] = view.toPhoto(view.stage.width, view.stage.height);
    const x = Math.max(0, Math.floor(left)), y = Math.max(0, Math.floor(top));
    return {x, y, width: Math.max(1, Math.min(view.width, Math.ceil(right)) - x),
            height: Math.max(1, Math.min(view.height, Math.ceil(bottom)) - y)};
  };
  return view;
}
