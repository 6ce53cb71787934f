// Which of some dropped files belong together: pairs by the words left and right in their names, else alone.
const Pairing = (() => {
  const SIDE = /(^|[^a-z])(left|right|l|r)(?=[^a-z]|$)/i;

  // {side: "left" or "right" or null, rest: the name without that word}
  function sideOf(name) {
    const stem = name.replace(/\.[^.]*$/, ""), found = SIDE.exec(stem);
    if (!found) return {side: null, rest: stem.toLowerCase()};
    const side = found[2].toLowerCase().startsWith("l") ? "left" : "right";
    return {side, rest: stem.replace(SIDE, "$1*").toLowerCase()};
  }

  // Lists of [part, file], one for each shot. The part is "files", or "guide" for a third picture of that name.
  function shots(files) {
    const sorted = [...files].sort((a, b) => a.name.localeCompare(b.name, undefined, {numeric: true}));
    const guides = sorted.filter(file => /guide/i.test(file.name));
    const views = sorted.filter(file => !guides.includes(file));
    const groups = new Map();
    for (const file of views) {
      const {side, rest} = sideOf(file.name), key = side ? `pair ${rest}` : `one ${file.name}`;
      const group = groups.get(key) || {};
      group[side && !group[side] ? side : `${file.name} ${Object.keys(group).length}`] = file;
      groups.set(key, group);
    }
    let lists = [...groups.values()].flatMap(group => (
      group.left && group.right && Object.keys(group).length === 2 ? [[group.left, group.right]]
        : Object.values(group).map(file => [file])));
    if (views.length === 2 && lists.length === 2) lists = [views];  // two files without such words, by name
    const found = lists.map(list => list.map(file => ["files", file]));
    if (found.length === 1 && guides.length === 1) found[0].push(["guide", guides[0]]);
    return found;
  }
  return {shots};
})();
