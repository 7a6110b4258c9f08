"""Keeps the stubs of the compiled module (`python/aerolane/_aerolane/*.pyi`) in step with it.

The stubs that `crates/py-bindings/stubs` describes are rendered as a whole (`stub_render.py`). The others have
signatures that are written by hand, and get their docstrings here: no class and no method is described twice.

    python tests/python/make_stubs.py            writes them
    python tests/python/make_stubs.py --check    fails if one of them is not as it would be written
"""

import ast
import difflib
import inspect
import sys

import stub_render
from stub_table import STUBS, compiled
from stub_text import docstring, literal


def owners(stubs):
    """The compiled classes that a class of the stubs stands for: its namesake, or its heirs if only stubs have it."""
    bases, own = {}, {}
    for text in stubs.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                for base in node.bases:
                    name = base.value if isinstance(base, ast.Subscript) else base
                    bases.setdefault(getattr(name, "id", None), []).append(node.name)
                if hasattr(compiled, node.name):
                    own[node.name] = [getattr(compiled, node.name)]

    def of(name):
        return own.get(name) or [found for heir in bases.get(name, ()) for found in of(heir)]

    return of


def attribute(owner, name):
    """A method or a property of a class."""
    found = inspect.getattr_static(owner, name, None)
    return found if type(found).__name__ == "getset_descriptor" else getattr(owner, name, None)


def said(found):
    """What the first of these says of itself that does."""
    return next((doc for doc in map(docstring, found) if doc), None)


def described(tree, of):
    """The nodes of a stub that have a docstring or should have one, each with that docstring."""

    def look(body, classes):
        seen = set()
        for node in body:
            if isinstance(node, ast.ClassDef):
                found = of(node.name)
                if hasattr(compiled, node.name):
                    yield node, said(found)
                yield from look(node.body, found)
            elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                # The first of several overloads, and the getter of a property, speak for the others.
                doc = None
                if node.name not in seen:
                    found = (
                        [getattr(compiled, node.name, None)]
                        if classes is None
                        else [attribute(c, node.name) for c in classes]
                    )
                    doc = said(found)
                seen.add(node.name)
                yield node, doc

    yield from look(tree.body, None)


def with_docstrings(text, of):
    """A stub with the docstrings of the compiled module."""
    lines = text.splitlines()
    for node, doc in sorted(described(ast.parse(text), of), key=lambda pair: -pair[0].lineno):
        first, rest = node.body[0], node.body[1:]
        has = (
            isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
        )
        empty = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.value.value is ...
        if doc is None:
            if has:
                raise SystemExit(
                    f"{node.name}: a docstring that the compiled module does not have:\n{lines[first.lineno - 1]}"
                )
            continue
        new = literal(doc, " " * (node.col_offset + 4))
        if has:
            lines[first.lineno - 1 : first.end_lineno] = new
        elif empty and not rest:
            head = lines[first.lineno - 1][: first.col_offset].rstrip()
            lines[first.lineno - 1 : first.lineno] = ([head] if head else []) + new
        else:
            start = min([first.lineno, *(decorator.lineno for decorator in getattr(first, "decorator_list", []))])
            lines[start - 1 : start - 1] = [*new, ""]
    return "\n".join(lines) + "\n"


def stubs():
    """All stubs as they should be, by file."""
    found = {stub.name: stub.read_text(encoding="utf-8") for stub in sorted(STUBS.glob("*.pyi"))}
    rendered = stub_render.rendered()
    of = owners(found | rendered)
    return {file: rendered.get(file) or with_docstrings(text, of) for file, text in (found | rendered).items()}


def main(check):
    wrong = False
    for file, text in stubs().items():
        path = STUBS / file
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if old == text:
            continue
        if check:
            wrong = True
            sys.stdout.writelines(
                difflib.unified_diff(old.splitlines(True), text.splitlines(True), file, "as it should be")
            )
        else:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")
    if wrong:
        print("These stubs are not what the compiled module says: python tests/python/make_stubs.py writes them.")
    return wrong


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
