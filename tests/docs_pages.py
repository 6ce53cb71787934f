"""The pages of the documentation, their blocks of code, and the commands in them."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted(ROOT.glob("docs/*.md"))]
SHELL = ("sh", "console")


class Block(NamedTuple):
    page: Path
    line: int
    language: str
    text: str

    def __str__(self):
        return f"{self.page.name}:{self.line}"


def blocks_of(page):
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^( *)```([^\n]*)\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL)
    return [Block(page, text[: each.start()].count("\n") + 1, each[2], each[3]) for each in found]


def prose_of(page):
    return re.sub(r"^( *)```.*?^\1```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def commands_of(block):
    """The commands of a block of a shell, as lists of words. In a console they begin with a $, the rest is output."""
    if block.language not in SHELL:
        return []
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language == "console":
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    return [words for line in lines if (words := shlex.split(line, comments=True))]


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
WITH_COMMANDS = [page for page in PAGES if any(block.language in SHELL for block in blocks_of(page))]
WITH_PYTHON = [page for page in PAGES if any(block.language == "python" for block in blocks_of(page))]
