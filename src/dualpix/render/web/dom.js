// Elements of the page. Text is always text: nothing here reads markup.
const Dom = (() => {
  const find = (selector, root = document) => root.querySelector(selector);

  // An element. Attributes that are null or false are left out; functions become listeners: {click: () => ...}.
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") element.addEventListener(name, value);
      else if (value !== null && value !== undefined && value !== false)
        element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter(child => child !== null && child !== undefined));
    return element;
  }

  let fields = 0;
  // A control with its label above it.
  function field(label, control) {
    control.id = `field-${++fields}`;
    return make("div", {class: "field"}, make("label", {for: control.id}, label), control);
  }

  // A choice with its label. choices: [[value, text], ...]
  function select(label, choices, value, change) {
    const list = make("select", {change: () => change(list.value)},
      ...choices.map(([key, text]) => make("option", {value: key}, text)));
    list.value = value;
    return field(label, list);
  }

  // A slider with its label and the number it stands at, which `text` writes.
  function slider(label, {min, max, step, value, text = String, input, change = () => {}}) {
    const shown = make("output", {}, text(+value));
    const range = make("input", {
      type: "range", min, max, step, value, "aria-label": label, "aria-valuetext": text(+value),
      input: () => { set(+range.value); input(+range.value); },
      change: () => change(+range.value),
    });
    function set(to) {
      range.value = to;
      shown.textContent = text(to);
      range.setAttribute("aria-valuetext", text(to));
    }
    const box = make("div", {class: "field slider"}, make("span", {}, label), shown, range);
    return Object.assign(box, {set, range});
  }

  function number(label, value, change, more = {}) {
    const input = make("input", {type: "number", step: "any", value: value ?? "", ...more,
      change: () => change(input.value === "" ? null : +input.value)});
    return Object.assign(field(label, input), {input});
  }

  function check(label, value, change) {
    const input = make("input", {type: "checkbox", change: () => change(input.checked)});
    input.checked = value;
    return Object.assign(make("label", {class: "tick"}, input, make("span", {}, label)), {input});
  }

  // A row of buttons of which one is pressed. choices: [[value, text, title], ...]
  function segments(label, choices, value, change) {
    const buttons = choices.map(([key, text, title]) =>
      make("button", {type: "button", "data-value": key, title, click: () => { set(key); change(key); }}, text));
    const box = make("div", {class: "segments", role: "group", "aria-label": label}, ...buttons);
    function set(to) {
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.value === to));
    }
    set(value);
    return Object.assign(box, {set, buttons});
  }

  const button = (text, click, more = {}) => make("button", {type: "button", click, ...more}, text);
  const section = (title, ...children) => make("section", {}, make("h2", {}, title), ...children);
  const hint = text => make("p", {class: "hint"}, text);

  // Tell a screen reader, without a change of what is seen.
  function say(text) {
    const region = find("#live");
    if (region && region.textContent !== text) region.textContent = text;
  }

  let timer = 0;
  // A message at the foot of the picture, for a few seconds. Errors stay until they are closed.
  function toast(text, isError = false, ms = 4000) {
    const box = find("#toast");
    box.replaceChildren(make("span", {}, text), button("Close", () => { box.hidden = true; }, {class: "plain"}));
    box.className = isError ? "error" : "";
    box.hidden = false;
    clearTimeout(timer);
    if (!isError) timer = setTimeout(() => { box.hidden = true; }, ms);
  }

  return {find, make, select, slider, number, check, segments, button, section, hint, say, toast};
})();
