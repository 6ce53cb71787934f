// A page that is opened as a file may not start workers. There, a worker is a script in a hidden frame, so that the
// search works without a server.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.inner = new Promise(resolve => {
        frame.addEventListener("load", () => {
          const inner = frame.contentWindow;
          inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
          const script = inner.document.createElement("script");
          script.src = url;
          script.addEventListener("load", () => resolve(inner));
          inner.document.body.append(script);
        }, { once: true });
      });
      document.body.append(frame);
    }

    async postMessage(data) {
      const inner = await this.inner;
      inner.dispatchEvent(new inner.MessageEvent("message", { data }));
    }
  };
}
