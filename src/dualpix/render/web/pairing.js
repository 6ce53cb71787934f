// Which of some dropped files belong together, by their names as app/sides.py reads them: left and right, l and r at
// the end, im0 and im1. Two files without such names are a pair, too. Others hold both views.
const Pairing = (() => {
  const WORDS = [[/left/g, "right"], [/(?<![a-z])l$/, "r"], [/im0$/, "im1"]];
  const stemOf = name => (name.includes(".") ? name.slice(0, name.lastIndexOf(".")) || name : name).toLowerCase();

  // What the right view may be called if this is the stem of the left one.
  function rightOf(stem) {
    return WORDS.map(([left, right]) => stem.replace(left, right)).filter(each => each !== stem);
  }

  // Lists of [part, file], one for each shot. The part is "files", or "guide" for a third picture of that name.
  function shots(files) {
    const sorted = [...files].sort((a, b) => a.name.localeCompare(b.name, undefined, {numeric: true}));
    const guides = sorted.filter(file => /guide/i.test(file.name));
    const views = sorted.filter(file => !guides.includes(file));
    const byStem = new Map(views.map(file => [stemOf(file.name), file])), partners = new Map();
    for (const file of views)
      for (const stem of rightOf(stemOf(file.name))) if (byStem.has(stem)) partners.set(file, byStem.get(stem));
    const rights = new Set(partners.values());
    let lists = views.filter(file => !rights.has(file)).map(file => [file, partners.get(file)].filter(Boolean));
    if (views.length === 2 && lists.length === 2) lists = [views];
    const found = lists.map(list => list.map(file => ["files", file]));
    if (found.length === 1 && guides.length === 1) found[0].push(["guide", guides[0]]);
    return found;
  }
  return {shots};
})();
