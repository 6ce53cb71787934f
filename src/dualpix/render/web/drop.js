// Files that are dropped anywhere on the page. `open` gets a list of them; of a folder, those that lie in it.
function Drop(open) {
  const shade = Dom.find("#shade");
  let depth = 0;  // of the elements that the pointer has entered

  const fileOf = entry => new Promise((done, fail) => { entry.file(done, fail); });
  // A reader gives the entries of a folder in parts, and an empty one at the end.
  async function filesOf(folder) {
    const reader = folder.createReader(), found = [];
    for (;;) {
      const part = await new Promise((done, fail) => { reader.readEntries(done, fail); });
      if (!part.length) return found;
      for (const entry of part) if (entry.isFile) found.push(await fileOf(entry));
    }
  }
  async function dropped(transfer) {
    const entries = [...transfer.items].map(item => item.webkitGetAsEntry?.()).filter(Boolean), found = [];
    if (!entries.length) return [...transfer.files];
    for (const entry of entries) found.push(...(entry.isFile ? [await fileOf(entry)] : await filesOf(entry)));
    return found;
  }

  const hasFiles = event => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
  function enter(by) {
    depth = Math.max(0, depth + by);
    shade.hidden = depth === 0;
  }
  addEventListener("dragenter", event => { if (hasFiles(event)) enter(1); });
  addEventListener("dragleave", event => { if (hasFiles(event)) enter(-1); });
  addEventListener("dragover", event => { if (hasFiles(event)) event.preventDefault(); });
  addEventListener("drop", async event => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    enter(-depth);
    const files = [...event.dataTransfer.files];
    open(await dropped(event.dataTransfer).catch(() => files));
  });
}
