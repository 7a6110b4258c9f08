"""Adapts pages that rustdoc and GitHub also show to the documentation site."""

import re
from pathlib import Path

_MANUAL = Path(__file__).parent.parent / "crates/core-ext/manual"
_CHAPTERS = re.compile(r"^<!-- manual: ([\w ]+) -->$", re.MULTILINE)
_SITE = re.compile(r"\]\(https://aerolane\.github\.io/aerolane/([\w/-]+)/(#[\w-]+)?\)")
_RUST = re.compile(r"^```rust(?:,[\w,]+)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Puts chapters of the crate's manual in their place, and removes what only rustdoc understands."""

    def chapters(found: re.Match[str]) -> str:
        return "\n".join((_MANUAL / f"{name}.md").read_text(encoding="utf-8") for name in found[1].split())

    markdown = _CHAPTERS.sub(chapters, markdown)
    # Links that have to be whole in rustdoc are relative here, so that they are checked.
    markdown = _SITE.sub(lambda link: f"]({link[1]}.md{link[2] or ''})", markdown)
    markdown = re.sub(r"\]\(crate::manual::\w+(#[\w-]+)\)", r"](\1)", markdown)
    markdown = re.sub(r"\[([^\]]+)\]\(crate::[\w:]+\)", r"\1", markdown)

    def plain(block: re.Match[str]) -> str:
        lines = (line for line in block[1].splitlines() if line != "#" and not line.startswith("# "))
        return "\n".join(["```rust", *lines, "```"])

    return _RUST.sub(plain, markdown)
