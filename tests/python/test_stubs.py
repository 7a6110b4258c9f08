"""What makes the stubs of the compiled module (`make_stubs.py`)."""

import re
import shutil

import make_stubs
import pytest
import stub_render
import stub_table


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the stubs, in a state that `make_stubs.py` has written."""
    monkeypatch.setattr(make_stubs, "STUBS", tmp_path)
    for stub in stub_table.STUBS.glob("*.pyi"):
        shutil.copy(stub, tmp_path)
    make_stubs.main(check=False)
    return tmp_path


@pytest.mark.parametrize(
    ("stub", "pattern", "new"),
    [
        # A signature, and a docstring that is another one or missing.
        ("_bins.pyi", r"def on_map_rank\(self, rank: int\)", "def on_map_rank(self)"),
        ("_results.pyi", r'\n        """', '\n        """No'),
        ("_errors.pyi", r'\n    """', '\n    """No'),
        ("_dataset.pyi", r'\n        """[^\n]*"""\n', " ...\n"),
    ],
)
def test_what_is_not_as_the_module_says_is_found_and_written(copy, capsys, stub, pattern, new):
    good = (copy / stub).read_text()
    (copy / stub).write_text(re.sub(pattern, new, good, count=1))
    assert make_stubs.main(check=True)
    assert f"--- {stub}" in capsys.readouterr().out
    make_stubs.main(check=False)
    assert (copy / stub).read_text() == good
    assert not make_stubs.main(check=True)


def test_a_stub_that_no_table_describes(copy):
    (copy / "_mine.pyi").write_text("class Mine: ...\n")
    with pytest.raises(SystemExit, match=r"_mine.pyi is in no table"):
        make_stubs.main(check=True)


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        (
            "builders.toml",
            lambda text: text.replace('\nrank = "int"', ""),
            "on_map_rank has no type for its argument rank",
        ),
        (
            "builders.toml",
            lambda text: text.replace('\nrank = "int"', '\nrank = "int"\nrang = "int"'),
            "no argument needs these types: rang",
        ),
        (
            "builders.toml",
            lambda text: text.replace("returns.or_raise", "returns.or_rise"),
            "RecordResult.or_raise has no type in `returns`",
        ),
        (
            "errors.toml",
            lambda text: text.replace("exceptions.CommitError", "exceptions.ComitError"),
            "no such exceptions: ComitError",
        ),
    ],
)
def test_what_the_table_lacks_or_has_too_much_of(tmp_path, monkeypatch, file, change, said):
    for table in stub_table.TABLES.glob("*.toml"):
        shutil.copy(table, tmp_path)
    table = tmp_path / file
    text = table.read_text()
    assert change(text) != text
    table.write_text(change(text))
    monkeypatch.setattr(stub_table, "TABLES", tmp_path)
    with pytest.raises(SystemExit, match=said):
        stub_render.rendered()
