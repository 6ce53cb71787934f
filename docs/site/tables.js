// A table that is wider than the screen can be moved with the keys, too. The theme makes the boxes around tables.
addEventListener("load", () => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset .math")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
});
