"""Pages to look at results with: plain HTML that opens from disk."""

import html
import json
from collections.abc import Mapping

TEMPLATE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
  body {{ margin: 1rem auto; max-width: 75rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif;
         background: #181818; color: #ebebeb; }}
  #stage {{ display: grid; touch-action: pan-y; cursor: ew-resize; }}
  #stage > * {{ grid-area: 1 / 1; }}
  #stage img {{ width: 100%; user-select: none; }}
  #line {{ width: 2px; background: #fff; pointer-events: none; position: relative; }}
  select {{ font: inherit; }}
  .row {{ display: flex; flex-wrap: wrap; gap: .5rem 2rem; justify-content: space-between; margin: .5rem 0; }}
  table {{ border-spacing: 1rem 0; }}
  td:last-child {{ text-align: right; font-variant-numeric: tabular-nums; }}
</style>
<h1>{title}</h1>
<p>{text}</p>
<div class="row"><label>left of the line <select id="first"></select></label>
<label>right of it <select id="second"></select></label></div>
<div id="stage" role="slider" tabindex="0" aria-label="wipe" aria-valuemin="0" aria-valuemax="100">
<img id="under" alt=""><img id="over" alt=""><div id="line"></div></div>
<p>Drag, or use the arrow keys, to wipe between the two pictures.</p>
<table>{rows}</table>
<script>
const pictures = {pictures};
const [first, second, stage, under, over, line] =
  ["first", "second", "stage", "under", "over", "line"].map(id => document.getElementById(id));
for (const [file, name] of Object.entries(pictures))
  for (const list of [first, second]) list.add(new Option(name, file));
second.selectedIndex = 2;
let part = 0.5;
function show() {{
  for (const [image, list] of [[over, first], [under, second]]) {{
    if (image.getAttribute("src") !== list.value) image.src = list.value;
    image.alt = pictures[list.value];
  }}
  over.style.clipPath = `inset(0 ${{100 - 100 * part}}% 0 0)`;
  line.style.left = `calc(${{100 * part}}% - 1px)`;
  stage.setAttribute("aria-valuenow", Math.round(100 * part));
}}
function wipe(event) {{
  const box = stage.getBoundingClientRect();
  part = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  show();
}}
stage.onpointerdown = event => {{ stage.setPointerCapture(event.pointerId); wipe(event); }};
stage.onpointermove = event => {{ if (event.buttons) wipe(event); }};
stage.onkeydown = event => {{
  const step = {{ArrowLeft: -0.02, ArrowRight: 0.02}}[event.key];
  if (step) {{ part = Math.min(1, Math.max(0, part + step)); show(); event.preventDefault(); }}
}};
stage.ondragstart = () => false;
first.onchange = second.onchange = show;
show();
</script>
"""


def wipe_page(title: str, text: str, pictures: Mapping[str, str], figures: Mapping[str, str]) -> str:
    """A page that wipes between any two pictures of one width, given as file names beside it with what they show.

    Below stands a table of figures: what they are, and their value with its unit.
    """
    cells = (f"<tr><td>{html.escape(name)}</td><td>{html.escape(value)}</td></tr>" for name, value in figures.items())
    return TEMPLATE.format(
        title=html.escape(title),
        text=html.escape(text),
        rows="".join(cells),
        pictures=json.dumps(dict(pictures)).replace("<", "\\u003c"),
    )
