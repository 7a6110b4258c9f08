"""Adapts pages that rustdoc and GitHub also show to the documentation site."""

import re

_RUST = re.compile(r"^```rust(?:,[\w,]+)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Removes what only rustdoc understands: attributes of code blocks, and hidden lines."""

    def plain(block: re.Match[str]) -> str:
        lines = (line for line in block[1].splitlines() if line != "#" and not line.startswith("# "))
        return "\n".join(["```rust", *lines, "```"])

    return _RUST.sub(plain, markdown)
