// The page for a friend: a photo and its depth, both inside the page, to look at and to refocus. It uses the picture
// and the tab "Focus" of the app.
(async () => {
  const {find} = Dom;
  const KEYS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
  const VIEWS = [["photo", "Photo"], ["depth", "Depth"], ["wipe", "Wipe"], ["cloud", "3-D"]];

  // The pixels of an image of the page, RGBA, at this size.
  async function pixels(image, width, height, smooth) {
    await image.decode();
    const pen = Object.assign(document.createElement("canvas"), {width, height}).getContext("2d");
    pen.imageSmoothingEnabled = smooth;
    pen.drawImage(image, 0, 0, width, height);
    return pen.getImageData(0, 0, width, height).data;
  }

  // Photo and map as large as the graphics card can hold. Disparities are in px of the photo, so they shrink with it.
  async function load(most) {
    const [photo, depth] = [find("#photo"), find("#depth")];
    await photo.decode();
    const share = Math.min(1, most / Math.max(photo.naturalWidth, photo.naturalHeight));
    const width = Math.round(photo.naturalWidth * share), height = Math.round(photo.naturalHeight * share);
    const [low, high] = [+depth.dataset.low, +depth.dataset.high].map(d => d * share);
    const colours = await pixels(photo, width, height, true), bytes = await pixels(depth, width, height, false);
    const values = new Float32Array(width * height);
    for (let i = 0; i < values.length; ++i) values[i] = low + bytes[4 * i] * (high - low) / 255;
    const map = {width, height, values}, {x, y, aperture, shape} = photo.dataset;
    Model.set({shot: {id: "photo", name: document.title, width, height}}, "shot");
    Model.set({photo: {width, height, values: new Uint8Array(colours.buffer)}}, "photo");
    Model.set({map, range: Maps.range(map)}, "map");
    Object.assign(Model.own(), {aperture: +aperture, shape});
    if (x) FocusTab.focus(Math.floor(x * share), Math.floor(y * share));
  }

  const views = Dom.segments("View", VIEWS, "photo", view => Model.set({view}));
  find("#views").append(views);
  Object.assign(Model, {tab: "focus", view: "photo"});
  Stage.start();
  for (const button of views.buttons) button.hidden = button.dataset.value === "cloud" && !Stage.cloud;
  FocusTab.build(find("#panels"));
  find("#panels .primary").remove();  // nothing can be saved here
  find("#marks").addEventListener("keydown", event => {
    if (KEYS[event.key]) Stage.move(...KEYS[event.key]);
    else if (event.key === "Enter" || event.key === " ") Stage.press();
    else if (event.key === "+" || event.key === "-") Stage.zoom(event.key === "+" ? 1.25 : 0.8);
    else if (event.key === "0") Stage.fit();
    else return;
    event.preventDefault();
  });
  await load(Model.most || 4096);
  document.body.classList.remove("empty");
  document.body.classList.add("ready");
})();
