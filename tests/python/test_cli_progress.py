"""Progress of the command line, and tables: on a terminal, and elsewhere."""

import io
import sys

import pytest

pytest.importorskip("typer")

from aerolane.cli import output, progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """`terminal()`: from now on, standard output and standard error are this terminal."""

    def make():
        screen = Terminal()
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setattr(sys, "stdout", screen)
        monkeypatch.setattr(sys, "stderr", screen)
        return screen

    return make


@pytest.mark.parametrize("total", [200, None])
def test_a_bar_on_a_terminal(terminal, total):
    screen = terminal()
    with progress.shown(total, quiet=False) as bar:
        bar.update(100, "[half] of it")
    text = screen.getvalue()
    assert "\x1b[" in text and "[half] of it" in text
    assert ("50%" in text) == (total is not None)


def test_a_line_every_few_seconds_elsewhere(capsys, monkeypatch):
    with progress.shown(200, quiet=False) as lines:
        lines.update(50, "too early")
    monkeypatch.setattr(progress, "LINE_EVERY", 0.0)
    with progress.shown(200, quiet=False) as lines:
        lines.update(100, "half")
    with progress.shown(None, quiet=False) as lines:
        lines.update(100, "some")
    assert capsys.readouterr() == ("", "50 %: half\nsome\n")


def test_nothing_if_quiet(terminal):
    screen = terminal()
    with progress.shown(200, quiet=True) as nothing:
        nothing.update(100, "half")
    assert screen.getvalue() == ""


def test_tables(terminal, capsys, monkeypatch):
    screen = terminal()
    output.table(["name", "what"], [["a", None], ["[b]", 1]], title="All")
    text = screen.getvalue()
    assert "All" in text and "[b]" in text and "│" in text
    monkeypatch.undo()
    output.table(["name", "what"], [["a", None], ["b", 1]])
    assert capsys.readouterr().out == "name\twhat\na\t\nb\t1\n"
