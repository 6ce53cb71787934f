// The flat view without WebGL2: photo or depth as a plain picture. It takes the calls of Viewer that it can.
function Plain(canvas) {
  const pen = canvas.getContext("2d");
  const pictures = {photo: null, depth: null};
  let map = null, painted = "";

  function bitmap(width, height, rgba) {
    const made = Object.assign(document.createElement("canvas"), {width, height});
    made.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(rgba), width, height), 0, 0);
    return made;
  }
  function paint({kind, range}) {
    const wanted = `${kind} ${range}`;
    if (!map || painted === wanted) return;
    const ramp = Colours.ramp(kind), out = new Uint8ClampedArray(4 * map.values.length).fill(128);
    for (let at = 0; at < map.values.length; at++) {
      const share = (map.values[at] - range[0]) / (range[1] - range[0]);
      if (share === share) {
        const from = 4 * Math.round(255 * Math.min(1, Math.max(0, share)));
        out.set(ramp.subarray(from, from + 3), 4 * at);
      }
      out[4 * at + 3] = 255;
    }
    pictures.depth = bitmap(map.width, map.height, out);
    painted = wanted;
  }
  function draw(view, look) {
    const box = canvas.getBoundingClientRect();
    Object.assign(canvas, {width: Math.max(1, box.width), height: Math.max(1, box.height)});
    pen.fillStyle = `rgb(${look.outside.map(part => Math.round(255 * part)).join(" ")})`;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    paint(look);
    const [x, y] = view.toScreen(0, 0), line = look.line === null ? 0 : look.line;
    pen.imageSmoothingEnabled = view.scale < 4;
    for (const [layer, from, to] of [[look.left, 0, line], [look.right, line, canvas.width]]) {
      const picture = pictures[layer === "depth" || layer === "other" ? "depth" : "photo"] || pictures.photo;
      if (!picture || to <= from) continue;
      pen.save();
      pen.beginPath();
      pen.rect(from, 0, to - from, canvas.height);
      pen.clip();
      pen.drawImage(picture, x, y, view.width * view.scale, view.height * view.scale);
      pen.restore();
    }
  }
  return {
    gl: null, draw, most: 4096,
    setPhoto: given => { pictures.photo = given && bitmap(given.width, given.height, given.values); },
    setMap: given => { map = given; painted = ""; pictures.depth = null; },
    setOther: () => {},
    setConfidence: () => {},
  };
}
