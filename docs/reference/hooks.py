"""Types in the Python reference: what classes put in for the type parameters of their bases."""

import ast
import functools
import html
import re
from pathlib import Path

_STUBS = Path(__file__).parents[2] / "python/aerolane/_aerolane"
# What belongs to a class of the reference, up to the next class.
_CLASS = re.compile(r'(?=<h2 id="aerolane\._aerolane\.\w+")')


def on_page_content(content: str, **_: object) -> str:
    """Shows what a class puts in for the type parameters of its bases, which the stubs share between classes."""
    return "".join(_with_types(section) for section in _CLASS.split(content))


def _with_types(section: str) -> str:
    found = re.match(r'<h2 id="aerolane\._aerolane\.(\w+)"', section)
    for parameter, given in _parameters(found[1]).items() if found else ():
        section = re.sub(rf"(?<![\w.]){parameter}(?!\w)", html.escape(given), section)
    return section


@functools.cache
def _classes() -> dict[str, tuple[list[str], list[tuple[str, list[str]]]]]:
    """The classes of the stubs: their type parameters, and each base with what it gets for its own."""
    found: dict[str, tuple[list[str], list[tuple[str, list[str]]]]] = {}
    for stub in _STUBS.glob("*.pyi"):
        for node in ast.parse(stub.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                bases = [_base(base) for base in node.bases]
                own = [arguments for name, arguments in bases if name == "Generic"]
                found[node.name] = (own[0] if own else [], bases)
    return found


def _base(base: ast.expr) -> tuple[str, list[str]]:
    if not isinstance(base, ast.Subscript):
        return ast.unparse(base), []
    items = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
    return ast.unparse(base.value), [ast.unparse(item) for item in items]


def _parameters(name: str) -> dict[str, str]:
    """What a class puts in for each type parameter of its bases, and of theirs."""
    found: dict[str, str] = {}
    for base, arguments in _classes().get(name, ([], []))[1]:
        own = dict(zip(_classes().get(base, ([], []))[0], arguments, strict=False))
        found |= {parameter: own.get(given, given) for parameter, given in _parameters(base).items()} | own
    return {parameter: given for parameter, given in found.items() if parameter != given}
