// The line between two pictures follows the pointer. area() returns its left and right end on the screen, CSS px;
// move(share) takes where it is between them, 0 to 1.
function Line(target, area, move) {
  function follow(event) {
    const [from, to] = area();
    move(Math.min(1, Math.max(0, (event.clientX - from) / (to - from))));
  }
  target.addEventListener("pointerdown", event => { target.setPointerCapture(event.pointerId); follow(event); });
  target.addEventListener("pointermove", event => { if (event.buttons) follow(event); });
  target.addEventListener("dragstart", event => event.preventDefault());
}
