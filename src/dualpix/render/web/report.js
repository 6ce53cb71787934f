// Values are read from the colours of the pictures. Their data attributes hold the scale.
const pen = Object.assign(document.createElement("canvas"), {width: 1, height: 1})
  .getContext("2d", {willReadFrequently: true});
const colours = {};  // of the legends, low to high

function colour(image, x, y) {
  pen.drawImage(image, x, y, 1, 1, 0, 0, 1, 1);
  return pen.getImageData(0, 0, 1, 1).data;
}

// The position of a colour in a legend, 0 to 1; null for the grey of invalid pixels, which is far from every colour.
function share(rgb, name) {
  const ramp = document.querySelector(`.ramp.${name}`);
  const known = colours[name] ??= Array.from({length: ramp.naturalWidth}, (_, x) => [...colour(ramp, x, 0)]);
  const distances = known.map(c => Math.abs(c[0] - rgb[0]) + Math.abs(c[1] - rgb[1]) + Math.abs(c[2] - rgb[2]));
  const least = Math.min(...distances);
  return least > 60 ? null : distances.indexOf(least) / (known.length - 1);
}

function value(image, u, v) {
  const {low, high, digits, below, above, ramp} = image.dataset;
  const found = share(colour(image, Math.floor(u * image.naturalWidth), Math.floor(v * image.naturalHeight)), ramp);
  if (found === null) return "–";
  const text = (+low + found * (high - low)).toFixed(digits).replace(/^-(?=0\.?0*$)/, "");
  return (found === 0 ? below : found === 1 ? above : "") + text;
}

function ready(scene) {
  const box = scene.querySelector(".wipe"), stage = box.querySelector(".stage"), second = box.querySelector(".second");
  const cells = scene.querySelectorAll("td[data-of]"), caption = scene.querySelector("caption");
  let [u, v] = [0.5, 0.5];
  wipe(box, id => document.getElementById(id).src);

  function point(toU, toV) {
    [u, v] = [toU, toV].map(part => Math.min(0.99999, Math.max(0, part)));
    for (const cell of cells) cell.textContent = value(document.getElementById(cell.dataset.of), u, v);
    caption.textContent = `Values at ${(100 * u).toFixed(1)} % across, ${(100 * v).toFixed(1)} % down`;
    scene.style.setProperty("--u", `${100 * u}%`);
    scene.style.setProperty("--v", `${100 * v}%`);
    scene.classList.add("pointed");
  }
  function follow(event) {
    const area = event.target.closest(".frame")?.getBoundingClientRect();
    if (area) point((event.clientX - area.left) / area.width, (event.clientY - area.top) / area.height);
  }
  for (const kind of ["pointermove", "pointerdown"]) scene.addEventListener(kind, follow);
  stage.tabIndex = 0;
  stage.setAttribute("role", "group");
  stage.setAttribute("aria-label", "Arrow keys move the point whose values are shown.");
  stage.addEventListener("keydown", event => {
    const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (!step) return;
    event.preventDefault();
    point(u + step[0] / 100, v + step[1] / 100);
  });
  scene.querySelector(".gallery").addEventListener("click", event => {
    const image = event.target.closest("img[id]");
    if (!image) return;
    second.value = image.id;
    second.dispatchEvent(new Event("change"));
    box.scrollIntoView({block: "nearest"});
  });
}

// Scenes of a long report are made when they come into the window or near its lower end. None is made above it, since
// that would move what a link has just led to.
const near = new IntersectionObserver(found => {
  for (const {isIntersecting, target} of found) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    const kept = target.querySelector("template");
    kept.replaceWith(kept.content);
    target.classList.remove("lazy");
    ready(target);
  }
}, {rootMargin: "0px 0px 600px 0px"});
for (const scene of document.querySelectorAll(".scene"))
  if (scene.classList.contains("lazy")) near.observe(scene); else ready(scene);

function compare(a, b) {
  return isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b;
}

for (const table of document.querySelectorAll(".sortable"))
  for (const [column, head] of table.querySelectorAll("thead tr:last-child th").entries())
    head.firstElementChild.addEventListener("click", () => {
      const order = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      const body = table.tBodies[0], key = row => row.children[column].dataset.value;
      const rows = [...body.rows], known = rows.filter(row => key(row) !== undefined);
      known.sort((a, b) => (order === "ascending" ? 1 : -1) * compare(key(a), key(b)));
      body.append(...known, ...rows.filter(row => key(row) === undefined));
    });

addEventListener("beforeprint", () => { for (const fold of document.querySelectorAll("details")) fold.open = true; });
