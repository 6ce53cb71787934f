// Mouse, fingers and wheel on the stage, as few gestures: press, drag, release, click, hover, pinch, wheel.
// `on` has a function for each; `on.press(point, event)` returns true if it takes the drag (a brush does).
function Gestures(element, on) {
  const SLOP = 5;  // px: a press that moves less is a click
  const pointers = new Map();
  let start = null, taken = false, moved = false, pinch = null;

  const point = event => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  function spread() {
    const [[ax, ay], [bx, by]] = [...pointers.values()];
    return {x: (ax + bx) / 2, y: (ay + by) / 2, apart: Math.max(1, Math.hypot(ax - bx, ay - by))};
  }
  element.addEventListener("pointerdown", event => {
    element.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, point(event));
    if (pointers.size === 2) {
      if (taken) on.release(true);
      taken = false;
      moved = true;
      pinch = spread();
    } else if (pointers.size === 1) {
      start = point(event);
      moved = false;
      taken = event.button === 0 && on.press(start, event);
    }
  });
  element.addEventListener("pointermove", event => {
    const now = point(event);
    if (!pointers.has(event.pointerId)) return on.hover(now);
    const [x, y] = pointers.get(event.pointerId);
    pointers.set(event.pointerId, now);
    if (pointers.size >= 2) {
      const last = pinch;
      pinch = spread();
      return on.pinch(pinch.apart / last.apart, pinch.x, pinch.y, pinch.x - last.x, pinch.y - last.y);
    }
    on.hover(now);
    if (taken) return on.drag(now, event);
    if (!moved && Math.hypot(now[0] - start[0], now[1] - start[1]) < SLOP) return undefined;
    if (!moved) on.grab(true);
    moved = true;
    return on.pan(now[0] - x, now[1] - y, event);
  });
  function end(event) {
    if (!pointers.delete(event.pointerId) || pointers.size) return;
    const cancelled = event.type === "pointercancel";
    if (taken) on.release(cancelled);
    else if (!moved && !cancelled && event.button === 0) on.click(start, event);
    on.grab(false);
    taken = false;
    pinch = null;
  }
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
  element.addEventListener("pointerleave", () => { if (!pointers.size) on.leave(); });
  element.addEventListener("contextmenu", event => event.preventDefault());
  element.addEventListener("wheel", event => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 30 : event.deltaMode === 2 ? 300 : 1;
    on.wheel(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), ...point(event));
  }, {passive: false});
}
