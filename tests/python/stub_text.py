"""Pieces of the source of stubs, as the formatter writes them."""

import inspect
import re
import textwrap

WIDTH = 120


def docstring(found):
    """What an object says of itself; `None`: nothing, or what its class says."""
    doc = None if found is None else inspect.getdoc(found)
    return doc if doc and (inspect.isclass(found) or doc != inspect.getdoc(type(found))) else None


def literal(doc, indent):
    """A docstring as lines of source. Paragraphs are filled; code, lists and tables keep their lines."""
    room = WIDTH - len(indent)
    start = 'r"""' if "\\" in doc else '"""'
    paragraphs = []
    for paragraph in doc.split("\n\n"):
        if re.search(r"^( {4}|[*|>-]|\d+\.|```)", paragraph, re.MULTILINE):
            paragraphs.append(paragraph.splitlines())
        else:
            paragraphs.append([" ".join(paragraph.split())])
    if len(paragraphs) == 1 and len(paragraphs[0]) == 1:
        line = f'{start}{paragraphs[0][0]}"""'
        if len(line) <= room and not doc.endswith('"'):
            return [indent + line]
    paragraphs[0][0] = start + paragraphs[0][0]
    lines = []
    for paragraph in paragraphs:
        filled = paragraph
        if len(paragraph) == 1:
            # Never the whole docstring in one line: the formatter would put the quotes behind it.
            last = 3 if len(paragraphs) == 1 else 0
            filled = textwrap.wrap(paragraph[0], room - last, break_long_words=False, break_on_hyphens=False)
        lines += ["", *(indent + line if line else "" for line in filled)]
    return [*lines[1:], f'{indent}"""']


def wrapped(head, items, tail, indent, brackets="()"):
    """Items in brackets as the formatter writes them: in one line, in a line of their own, or one per line."""
    opening, closing = brackets
    one = f"{indent}{head}{opening}{', '.join(items)}{closing}{tail}"
    if len(one) <= WIDTH:
        return [one]
    inner = f"{indent}    {', '.join(items)}"
    if len(inner) <= WIDTH:
        return [f"{indent}{head}{opening}", inner, f"{indent}{closing}{tail}"]
    lines = []
    for item in items:
        if len(line := f"{indent}    {item},") <= WIDTH or not item.endswith("]"):
            lines.append(line)
        else:
            name, _, rest = item.partition("[")
            lines += wrapped(name, separated(rest[:-1]), ",", f"{indent}    ", "[]")
    return [f"{indent}{head}{opening}", *lines, f"{indent}{closing}{tail}"]


def separated(text):
    """What commas separate in a text, outside of brackets."""
    depth, items = 0, [""]
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            items.append("")
        else:
            items[-1] += letter
    return [item.strip() for item in items]


def split(signature):
    """The parts of a signature: its arguments, and what follows them."""
    arguments, _, result = signature.rpartition(") -> ")
    return separated(arguments.removeprefix("(")), f" -> {result}:"
