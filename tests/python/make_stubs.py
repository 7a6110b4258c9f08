"""Keeps the stubs of the compiled module (`python/aerolane/_aerolane/*.pyi`) in step with it.

All of them are rendered from the classes of the module and from the tables in `crates/py-bindings/stubs`
(`stub_render.py`): none is written by hand.

    python tests/python/make_stubs.py            writes them
    python tests/python/make_stubs.py --check    fails if one of them is not as it would be written
"""

import difflib
import sys

import stub_render
from stub_table import STUBS


def main(check):
    wrong = False
    stubs = stub_render.rendered()
    for path in STUBS.glob("*.pyi"):
        if path.name not in stubs:
            raise SystemExit(f"{path} is in no table of crates/py-bindings/stubs")
    for file, text in stubs.items():
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
