// The server's interface. Addresses are relative to the page, so the token of its address is always part of them.
const Api = (() => {
  async function ask(path, options = {}) {
    let answer;
    try {
      answer = await fetch(path, options);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The app does not answer: start dualpix app again.");
    }
    if (answer.ok) return answer;
    const body = await answer.json().catch(() => ({}));
    throw new Error(body.error || `The app answered ${answer.status} ${answer.statusText}.`);
  }
  const json = async (path, options) => (await ask(path, options)).json();
  const post = (path, body, signal) => ask(path, {
    method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body), signal});
  const posted = async (path, body) => (await post(path, body)).json();

  // Pixels: {width, height, values}
  async function pixels(path, Type, signal) {
    const answer = await ask(path, {signal});
    const [width, height] = ["X-Width", "X-Height"].map(name => +answer.headers.get(name));
    return {width, height, values: new Type(await answer.arrayBuffer())};
  }

  async function open(files, settings) {
    const form = new FormData();
    for (const [name, file] of files) form.append(name, file, file.name);
    form.append("settings", JSON.stringify(settings));
    return json("api/shots", {method: "POST", body: form});
  }

  async function calibration(file) {
    const form = new FormData();
    form.append("file", file, file.name);
    return json("api/calibrations", {method: "POST", body: form});
  }

  // A file made by the server, with the name it gave.
  async function exported(run, body) {
    const answer = await post(`api/runs/${run}/export`, body);
    const given = /filename\*=UTF-8''([^;]+)|filename="([^"]*)"/i.exec(answer.headers.get("Content-Disposition") || "");
    const name = given ? (given[1] ? decodeURIComponent(given[1]) : given[2]) : `dualpix${body.suffix}`;
    return {name, blob: await answer.blob()};
  }

  return {
    state: () => json("api/state"),
    open,
    sample: () => posted("api/shots/sample", {}),
    close: id => ask(`api/shots/${id}`, {method: "DELETE"}),
    run: (shot, settings, hints) => posted(`api/shots/${shot}/runs`, {settings, hints}),
    cancel: run => ask(`api/runs/${run}`, {method: "DELETE"}),
    details: run => json(`api/runs/${run}`),
    photo: (shot, step, signal) => pixels(`api/shots/${shot}/photo?step=${step}`, Uint8Array, signal),
    disparity: (run, signal) => pixels(`api/runs/${run}/disparity`, Float32Array, signal),
    confidence: (run, signal) => pixels(`api/runs/${run}/confidence`, Uint8Array, signal),
    metric: (run, body) => posted(`api/runs/${run}/metric`, body),
    command: (run, body) => posted(`api/runs/${run}/command`, body),
    calibration,
    exported,
    events: () => new EventSource("api/events"),
  };
})();
