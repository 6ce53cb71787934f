// Marks over the picture: the point in focus, known distances, strokes of the brush, the point that the keys move.
function Overlay(canvas) {
  const pen = canvas.getContext("2d");
  const sheet = document.createElement("canvas");  // strokes are drawn on it first, so that overlaps do not add up

  function ring(x, y, radius, bold) {
    for (const [width, colour] of [[bold ? 4 : 3, "rgb(0 0 0 / .55)"], [bold ? 2 : 1.25, "#fff"]]) {
      pen.lineWidth = width;
      pen.strokeStyle = colour;
      pen.beginPath();
      pen.arc(x, y, radius, 0, 2 * Math.PI);
      pen.stroke();
    }
  }
  function cross(x, y, inner, outer) {
    for (const [width, colour] of [[3, "rgb(0 0 0 / .55)"], [1.25, "#fff"]]) {
      pen.lineWidth = width;
      pen.strokeStyle = colour;
      pen.beginPath();
      for (const [i, j] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        pen.moveTo(x + i * inner, y + j * inner);
        pen.lineTo(x + i * outer, y + j * outer);
      }
      pen.stroke();
    }
  }
  function label(x, y, text) {
    pen.font = "600 12px system-ui, sans-serif";
    const width = pen.measureText(text).width;
    pen.fillStyle = "rgb(0 0 0 / .7)";
    pen.beginPath();
    pen.roundRect(x + 10, y - 10, width + 12, 20, 6);
    pen.fill();
    pen.fillStyle = "#fff";
    pen.textBaseline = "middle";
    pen.fillText(text, x + 16, y + 0.5);
  }
  function path(onto, view, {points, radius}) {
    onto.lineWidth = 2 * radius * view.scale;
    onto.lineCap = onto.lineJoin = "round";
    onto.beginPath();
    const [first, ...rest] = points.map(([x, y]) => view.toScreen(x, y));
    onto.moveTo(...first);
    onto.lineTo(first[0] + 0.01, first[1]);
    for (const each of rest) onto.lineTo(...each);
    onto.stroke();
  }
  // Strokes: warm for "as near as", grey for "unknown".
  function drawStrokes(view, list, ratio, alpha) {
    if (!list.length) return;
    Object.assign(sheet, {width: canvas.width, height: canvas.height});
    const onto = sheet.getContext("2d");
    onto.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const each of list) {
      onto.strokeStyle = each.kind === "near" ? "#ffb02e" : "#8b939c";
      path(onto, view, each);
    }
    pen.save();
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.globalAlpha = alpha;
    pen.drawImage(sheet, 0, 0);
    pen.restore();
  }

  // marks: {focus: [x, y] or null, known: [[x, y, m]], strokes, solved (how many of them the map already holds),
  // brush: {x, y, radius} or null, cursor: [x, y] or null}
  function draw(view, marks) {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(view.stage.width * ratio);  // clears it
    canvas.height = Math.round(view.stage.height * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = "rgb(0 0 0 / .01)";
    pen.fillRect(0, 0, 1, 1);  // Chromium shows the canvas of before if nothing is drawn
    const middle = ([x, y]) => view.toScreen(x + 0.5, y + 0.5);
    drawStrokes(view, marks.strokes.slice(0, marks.solved), ratio, 0.2);
    drawStrokes(view, marks.strokes.slice(marks.solved), ratio, 0.6);
    for (const [x, y, metres] of marks.known) {
      const at = middle([x, y]);
      ring(...at, 5, true);
      label(...at, `${metres} m`);
    }
    if (marks.focus) {
      const [x, y] = middle(marks.focus);
      ring(x, y, 14, true);
      cross(x, y, 10, 18);
    }
    if (marks.brush) ring(...view.toScreen(marks.brush.x, marks.brush.y), marks.brush.radius * view.scale, false);
    if (marks.cursor) cross(...middle(marks.cursor), 4, 12);
  }
  return {draw};
}
