"""Hooks of mkdocs.yml: pages that are no file of docs/, links to them, and equations without scripts.

Links are written for the repository, so that they work there, and are turned into links of the site.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]

# Files outside docs/ that are pages of the site.
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    **{f"examples/{path.name}": f"examples/{path.stem}.md" for path in sorted(ROOT.glob("examples/*.py"))},
}
HOMES = {uri: home for home, uri in PAGES.items()}
PUBLIC = set(re.findall(r"^::: (dualpix\.[\w.]+)$", (ROOT / "docs/api.md").read_text(encoding="utf-8"), re.MULTILINE))
NAMED = re.compile(r"<code>(dualpix\.[\w.]+)</code>(?!</a>)")
EMPTY_HEAD = re.compile(r"<th(?: [^>]*)?></th>")
SEARCH = re.compile(r'<div class="?md-search"?[^>]*? role="?dialog"?')
LINK = re.compile(r"\[([^\]]*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_config(config: MkDocsConfig) -> None:
    """Fences with the word math become equations."""
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {}).setdefault("custom_fences", [])
    fences.append({"name": "math", "class": "math", "format": equation})


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages from outside docs/, and a place in the navigation for pages that it does not name."""
    for home, uri in PAGES.items():
        text = (ROOT / home).read_text(encoding="utf-8")
        script = home.endswith(".py")
        files.append(File.generated(config, uri, content=page_of(text, home) if script else text))
        if script:  # to download
            files.append(File.generated(config, home, content=text))
    named = _names(config.nav)
    more = [file.src_uri for file in files.documentation_pages() if file.src_uri not in named]
    if more:
        config.nav.append({"More": more})


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Turn links of the repository into links of the site. A link that shows a file name gets the name of its page."""
    here = page.file.src_uri
    home, names = HOMES.get(here, f"docs/{here}"), _names(config.nav)

    def replace(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        there = link(target, home, here)
        uri = posixpath.normpath(posixpath.join(posixpath.dirname(here), there))
        return f"[{names.get(uri, text) if text == target else text}]({there}{anchor})"

    return LINK.sub(replace, markdown)


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Link names of the package, such as `dualpix.disparity`, to the reference. An empty head of a table is a cell."""
    html = EMPTY_HEAD.sub("<td></td>", html)
    there = posixpath.relpath("api.html", posixpath.dirname(page.file.src_uri) or ".")
    return NAMED.sub(lambda name: f'<a href="{there}#{name[1]}">{name[0]}</a>' if name[1] in PUBLIC else name[0], html)


def on_post_page(output: str, **_: Any) -> str:
    """Name the search for people who hear the page: the theme does not."""
    return SEARCH.sub(r'\g<0> aria-label="Search"', output)


def link(target: str, home: str, here: str) -> str:
    """The target of a link in the file `home` of the repository, seen from the page `here` of the site."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(home), target))
    uri = PAGES.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
    return target if uri is None else posixpath.relpath(uri, posixpath.dirname(here) or ".")


def page_of(script: str, name: str) -> str:
    """The page of a script in percent format: its text, and its code in blocks."""
    parts = []
    for cell in re.split(r"^# %%", script, flags=re.MULTILINE)[1:]:
        kind, _, body = cell.partition("\n")
        if kind.strip() == "[markdown]":
            parts.append(re.sub(r"^# ?", "", body, flags=re.MULTILINE).strip())
        else:
            parts.append(f"```python\n{body.strip()}\n```")
    file = f'<a href="{posixpath.basename(name)}" download><code>{name}</code></a>'  # LINK would lead to this page
    parts.append(f"*This page is the script {file}. Editors that know `# %%` run it cell by cell.*")
    return "\n\n".join(parts) + "\n"


def equation(source: str, *_: Any, **__: Any) -> str:
    """LaTeX to MathML, which browsers draw by themselves."""
    return f'<div class="math">{convert(source.strip(), display="block")}</div>'


def _names(nav: Any) -> dict[str, str]:
    """The pages of a navigation, and what it calls them."""
    names: dict[str, str] = {}
    for entry in nav:
        for name, inner in entry.items() if isinstance(entry, dict) else ():
            names.update({inner: name} if isinstance(inner, str) else _names(inner))
    return names
