"""The programs in `examples/python`: each one runs, and pages show them as they are."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLES = ROOT / "examples/python"
TITLED = re.compile(r'^```python title="(.*?)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
# Files that pages show, each with the folder that it is in. test_forks.py runs those of its page.
SHOWN = {
    "docs/python/forks.md": {
        "service.py": "flask_gunicorn",
        "gunicorn.conf.py": "flask_gunicorn",
        "tasks.py": "celery_tasks",
        "pool.py": "process_pool",
    },
    "docs/python/pytest.md": {"store.py": "pytest_suite", "test_store.py": "pytest_suite"},
}


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def run(*command, **named):
    """What a program prints."""
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, timeout=100, **named)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("name", "file", "folder"), [(name, *file) for name in SHOWN for file in SHOWN[name].items()])
def test_a_page_shows_the_file_of_an_example(name, file, folder):
    assert dict(TITLED.findall(page(name)))[file] == (EXAMPLES / folder / file).read_text(encoding="utf-8")


def test_the_pages_of_tutorials_show_their_examples():
    (service,) = re.findall(r"^```python\n(.*?)^```$", page("docs/python/fastapi.md"), re.MULTILINE | re.DOTALL)
    assert service == (EXAMPLES / "fastapi_service/service.py").read_text(encoding="utf-8")
    frames = (EXAMPLES / "dataframes.py").read_text(encoding="utf-8")
    # The page explains what the file's docstring says.
    program = frames.partition('"""\n\n')[2]
    assert f"```python\n{program}```" in page("docs/python/dataframe.md")
    # tests/rust/examples.rs runs this one.
    axum = (ROOT / "crates/core-ext/examples/axum_service.rs").read_text(encoding="utf-8").partition("\n\n")[2]
    assert f"```rust\n{axum}```" in page("docs/rust-service.md")


def test_asyncio(seeds):
    run("-Werror", EXAMPLES / "asyncio_script.py", seeds)


def test_asyncio_without_a_server():
    # A cluster of its own: these are the counts of one run.
    assert run("-Werror", EXAMPLES / "asyncio_script.py") == "3 a\n2 calls\n2 client\n"


def test_dataframes():
    for library in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(library)
    printed = run(EXAMPLES / "dataframes.py")
    (shown,) = re.findall(r"^```text\n(3 rows.*?)^```$", page("docs/python/dataframe.md"), re.MULTILINE | re.DOTALL)
    assert printed == shown


# Runs the cells of a notebook as Jupyter does: in one event loop, with `await` at their top level.
CELLS = """
import ast, asyncio, contextlib, inspect, io, json, sys

async def main():
    space = {"__name__": "__main__"}
    for cell in json.load(sys.stdin)["cells"]:
        if cell["cell_type"] != "code":
            continue
        code = compile("".join(cell["source"]), "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            if inspect.isawaitable(done := eval(code, space)):
                await done
        shown = "".join(line for output in cell["outputs"] for line in output["text"])
        assert printed.getvalue() == shown, (printed.getvalue(), shown)

asyncio.run(main())
"""


def test_the_notebook_prints_what_it_shows():
    for library in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(library)
    run("-Werror", "-c", CELLS, input=(EXAMPLES / "dataframes.ipynb").read_text(encoding="utf-8"))


def pytest_in(folder, *arguments):
    """A run of pytest with the plugin of the package alone, as a project of its own would have it."""
    # On embedded clusters: the tests stop nodes.
    env = {name: value for name, value in os.environ.items() if name != "AEROSPIKE_HOST"}
    command = ["-m", "pytest", "-q", "-p", "pytest_aerolane", "-p", "no:cacheprovider", "--rootdir", folder]
    return run(*command, "-c", os.devnull, *arguments, cwd=folder, env=env | {"PYTHONDONTWRITEBYTECODE": "1"})


@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_a_suite_with_faults(arguments):
    if arguments:
        pytest.importorskip("xdist")
    assert re.search(r"\b7 passed\b", pytest_in(EXAMPLES / "pytest_suite", *arguments))


def test_the_test_for_asyncio_of_the_page(tmp_path):
    pytest.importorskip("pytest_asyncio")
    (tmp_path / "test_async.py").write_text(dict(TITLED.findall(page("docs/python/pytest.md")))["test_async.py"])
    assert re.search(r"\b1 passed\b", pytest_in(tmp_path, "-p", "pytest_asyncio", "-o", "asyncio_mode=auto"))


def test_gevent(seeds, tmp_path):
    """What the page about event loops says of greenlets: in gevent's pool of threads, calls run side by side."""
    pytest.importorskip("gevent")
    program = dict(TITLED.findall(page("docs/python/event-loops.md")))["greenlets.py"].replace("localhost:3000", seeds)
    assert run("-c", program) == "{'n': 1}\n"


def pages_outside_the_site():
    """Our pages that neither `make docs` nor rustdoc looks at."""
    return [
        *ROOT.glob("*.md"),
        *ROOT.glob("examples/**/*.md"),
        *ROOT.glob("crates/*/*.md"),
        *ROOT.glob("python/*.md"),
        *ROOT.glob("crates/*/fuzz/*.md"),
    ]


@pytest.mark.parametrize("file", pages_outside_the_site(), ids=lambda file: str(file.relative_to(ROOT)))
def test_links_lead_to_files(file):
    links = re.findall(
        r"\]\(([^)#\s]+)[^)]*\)", re.sub(r"```.*?```|`[^`]*`", "", file.read_text("utf-8"), flags=re.DOTALL)
    )
    for link in links:
        assert "://" in link or (file.parent / link).exists(), link


def test_every_example_is_listed():
    listed = re.findall(r"^\| `([\w.]+?)/?` \|", page("examples/python/README.md"), re.MULTILINE)
    there = {entry.name for entry in EXAMPLES.iterdir() if not entry.name.startswith((".", "__"))}
    assert {*listed, "README.md", "ruff.toml"} == there
