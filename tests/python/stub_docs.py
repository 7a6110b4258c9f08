"""Puts the docstrings of the compiled module into its stubs, where editors find them: the first paragraph of each.

python tests/python/stub_docs.py            writes what is missing into python/aerolane/_aerolane
python tests/python/stub_docs.py --check    names it, for the stubs of the installed package
"""

import ast
import inspect
import pathlib
import sys
import textwrap

import aerolane._aerolane as compiled

INSTALLED = pathlib.Path(compiled.__file__).parent / "_aerolane"
SOURCE = pathlib.Path(__file__).parents[2] / "python" / "aerolane" / "_aerolane"
WIDTH = 120


def classes(stubs):
    """What the compiled module has for each class of the stubs: the heirs of one that is only in stubs."""
    bases, own = {}, {}
    for stub in stubs:
        for node in ast.walk(ast.parse(stub.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                for base in node.bases:
                    name = base.value if isinstance(base, ast.Subscript) else base
                    bases.setdefault(getattr(name, "id", None), []).append(node.name)
                if hasattr(compiled, node.name):
                    own[node.name] = [getattr(compiled, node.name)]

    def of(name):
        return own.get(name) or [found for heir in bases.get(name, ()) for found in of(heir)]

    return of


def first_paragraph(found):
    """What one of these says of itself."""
    for one in found:
        # An object without a docstring has that of its class.
        doc = None if one is None else inspect.getdoc(one)
        if doc and (inspect.isclass(one) or doc != inspect.getdoc(type(one))):
            return " ".join(doc.split("\n\n")[0].split())
    return None


def attribute(owner, name):
    """A method or a property of a class, as it stands there."""
    found = inspect.getattr_static(owner, name, None)
    return getattr(owner, name) if isinstance(found, staticmethod | classmethod) else found


def is_overload(node):
    return any(getattr(decorator, "id", "") == "overload" for decorator in node.decorator_list)


def missing(stub, of):
    """The nodes of a stub without a docstring, each with what belongs there."""

    def look(body, owners):
        seen = set()
        for node in body:
            if isinstance(node, ast.ClassDef):
                found = of(node.name)
                if ast.get_docstring(node) is None and hasattr(compiled, node.name):
                    yield node, first_paragraph(found)
                yield from look(node.body, found)
            elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                # The first of several overloads speaks for all of them.
                if node.name in seen or ast.get_docstring(node) is not None:
                    seen.add(node.name)
                    continue
                if is_overload(node):
                    seen.add(node.name)
                setter = any(isinstance(decorator, ast.Attribute) for decorator in node.decorator_list)
                if not setter:
                    if owners is None:
                        yield node, first_paragraph([getattr(compiled, node.name, None)])
                    else:
                        yield node, first_paragraph([attribute(o, node.name) for o in owners])

    for node, doc in look(ast.parse(stub.read_text(encoding="utf-8")).body, None):
        if doc:
            yield node, doc


def literal(doc, indent):
    """A docstring as lines of source."""
    start = 'r"""' if "\\" in doc else '"""'
    line = f'{indent}{start}{doc}"""'
    if len(line) <= WIDTH and not doc.endswith('"'):
        return [line]
    # Never one line alone: the formatter would put the quotes behind it.
    lines = textwrap.wrap(start + doc, WIDTH - 3 - len(indent), break_long_words=False, break_on_hyphens=False)
    return [*(indent + line for line in lines), f'{indent}"""']


def write(stub, of):
    lines = stub.read_text(encoding="utf-8").splitlines()
    for node, doc in sorted(missing(stub, of), key=lambda pair: -pair[0].lineno):
        text = literal(doc, " " * (node.col_offset + 4))
        body = node.body[0]
        if isinstance(body, ast.Expr) and isinstance(body.value, ast.Constant) and body.value.value is ...:
            last = lines[body.lineno - 1]
            head = last[: body.col_offset].rstrip()
            lines[body.lineno - 1 : body.lineno] = ([head] if head else []) + text
        else:
            first = min([body.lineno, *(decorator.lineno for decorator in getattr(body, "decorator_list", []))])
            gap = [""] if not isinstance(body, ast.Pass) else []
            lines[first - 1 : first - 1] = text + gap
    stub.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(check):
    stubs = sorted((INSTALLED if check else SOURCE).glob("_*.pyi"))
    of = classes(stubs)
    lacking = 0
    for stub in stubs:
        if check:
            for node, _ in missing(stub, of):
                print(f"{stub.name}:{node.lineno}: {node.name} has a docstring, which the stub does not show")
                lacking += 1
        else:
            write(stub, of)
    return lacking != 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
