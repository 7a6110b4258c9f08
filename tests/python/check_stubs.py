"""Checks the stubs against the compiled module, with mypy's stubtest.

The stubs of `aerolane._aerolane` are a package of several files, the module itself is one library. So that stubtest
compares each file, the files get modules that show their share of the library.
"""

import ast
import pathlib
import sys
import types

import mypy.stubtest

import aerolane._aerolane as compiled

PACKAGE = pathlib.Path(compiled.__file__).parent
STUBS = PACKAGE / "_aerolane"


def names_of(stub):
    """What a stub defines at its top level."""
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def main():
    compiled.__path__ = []
    for stub in STUBS.glob("_*.pyi"):
        if stub.stem == "__init__":
            continue
        share = types.ModuleType(f"aerolane._aerolane.{stub.stem}")
        for name in names_of(stub):
            if hasattr(compiled, name):
                setattr(share, name, getattr(compiled, name))
        sys.modules[share.__name__] = share
    allowlist = str(pathlib.Path(__file__).parent / "stubtest-allowlist.txt")
    options = ["aerolane", "--mypy-config-file", "pyproject.toml", "--allowlist", allowlist, *sys.argv[1:]]
    return mypy.stubtest.test_stubs(mypy.stubtest.parse_options(options))


if __name__ == "__main__":
    sys.exit(main())
