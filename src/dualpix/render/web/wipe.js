// Shows two pictures over each other in a box. Selects choose them; dragging or a slider moves the line between them.
// source(name) returns the address of the picture with that name.
function wipe(box, source) {
  const [first, second, stage, under, over, range] =
    [".first", ".second", ".stage", ".under", ".over", "[type=range]"].map(name => box.querySelector(name));

  function show() {
    for (const [image, list] of [[over, first], [under, second]]) {
      image.src = source(list.value);
      image.alt = list.selectedOptions[0].text;
    }
  }
  function move(percent) {
    range.value = percent;
    stage.style.setProperty("--line", `${percent}%`);
  }
  function area() {
    const {left, right} = stage.getBoundingClientRect();
    return [left, right];
  }
  Line(stage, area, share => move(100 * share));
  range.addEventListener("input", () => move(range.value));
  for (const list of [first, second]) list.addEventListener("change", show);
  show();
  move(range.value);
  box.hidden = false;
}
