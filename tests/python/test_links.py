"""The check of links to other sites (`make links`, docs/links.py): what it finds, and what it leaves alone."""

import functools
import http.server
import importlib.util
import pathlib
import subprocess
import threading

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / "docs" / "links.py"


@pytest.fixture(scope="module")
def links():
    spec = importlib.util.spec_from_file_location("aerolane_links", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path):
    """`checkout(text)`: a repository with a page of this text."""

    def make(text):
        page = tmp_path / "docs" / "page.md"
        page.parent.mkdir()
        page.write_text(text)
        for command in (["init", "-q"], ["add", "."]):
            subprocess.run(["git", *command], cwd=tmp_path, check=True)
        return tmp_path

    return make


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(self.path.strip("/")))
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def site():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_links_of_this_repository(links):
    assert links.main(["--offline"]) == 0


@pytest.mark.parametrize(
    ("address", "wrong"),
    [
        ("https://github.com/aerolane/aerolane/blob/main/docs/page.md", False),
        ("https://github.com/aerolane/aerolane/tree/main/docs", False),
        ("https://github.com/aerolane/aerolane/blob/main/docs/gone.md", True),
        ("https://aerolane.github.io/aerolane/page/#the-second-part", False),
        ("https://aerolane.github.io/aerolane/page/#no-part", True),
        ("https://aerolane.github.io/aerolane/gone/", True),
    ],
)
def test_links_to_the_project_itself(links, checkout, capsys, address, wrong):
    root = checkout(f"# A page\n\n## The `second` part\n\n[a link]({address}), and so on.\n")
    assert links.main(["--offline"], root) == wrong
    assert ("docs/page.md:5" in capsys.readouterr().out) is wrong


@pytest.mark.parametrize(("code", "broken"), [(200, False), (404, True), (410, True), (403, False), (503, False)])
def test_what_sites_answer(links, checkout, capsys, monkeypatch, site, code, broken):
    monkeypatch.setattr(links, "OWN", links.re.compile("$never"))
    assert links.main([], checkout(f"See <{site}/{code}>.\n")) == broken
    assert (f"{code} " in capsys.readouterr().out) is (code != 200)


def test_examples_are_not_asked_for(links, checkout, monkeypatch):
    monkeypatch.setattr(links, "ask", functools.partial(pytest.fail, "asked"))
    assert links.main([], checkout("http://localhost:8000/users https://example.com/a.yaml\n")) == 0
