"""What the documentation site needs of pages that are also read by rustdoc and on GitHub."""

import re

_RUST = re.compile(r"^```(rust|toml)?(?:,[\w,]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Leaves out what rustdoc alone understands: attributes of code blocks, and lines that it hides."""

    def plain(block: re.Match[str]) -> str:
        lines = (line for line in block[2].splitlines() if line != "#" and not line.startswith("# "))
        return "\n".join([f"```{block[1] or 'rust'}", *lines, "```"])

    return _RUST.sub(plain, markdown)
