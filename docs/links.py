"""Checks the links that mkdocs does not: those to other sites, and those to this repository and its site by address.

python docs/links.py              also asks other sites, which takes the network; `make links`
python docs/links.py --offline    only what the checkout can tell; a part of `make docs`

A link is broken if its site answers that there is no such page (404 or 410), or if its host does not exist. Other
answers (403, 429, 5xx) and timeouts are reported but are no failure: they say nothing about the link.
"""

import argparse
import re
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
REPOSITORY = re.compile(r"https://github\.com/aerolane/aerolane/(?:blob|tree)/main/([^#?]+)")
SITE = re.compile(r"https://aerolane\.github\.io/aerolane/([\w./-]*?)/?(?:#([\w-]+))?$")
# Of the project itself, which cannot be asked for before it is published, and of examples.
OWN = re.compile(
    r"https?://(?:github\.com/aerolane/|aerolane\.github\.io|(?:[\w.-]*\.)?example\.(?:com|org)|localhost|127\.|host[/:])"
)
LINK = re.compile(r"https?://[\w.-]+\.\w[^\s\[\](){}<>\"'`\\|]*")
KINDS = {".md", ".rs", ".py", ".pyi", ".toml", ".yml", ".yaml", ".json", ".svg", ""}


def links(root: Path) -> dict[str, list[str]]:
    """Each address in the files of the repository, and where it stands."""
    found: dict[str, list[str]] = {}
    listed = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout
    for name in listed.splitlines():
        path = root / name
        if path.suffix not in KINDS or name.startswith(("tests/", "docs/results/")) or path.name == "Cargo.lock":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            for link in LINK.findall(line):
                found.setdefault(link.rstrip(".,;:!?*"), []).append(f"{name}:{number}")
    return found


def slug(heading: str) -> str:
    """The anchor that mkdocs gives a heading."""
    text = re.sub(r"[^\w\s-]", "", re.sub(r"`", "", heading)).strip().lower()
    return re.sub(r"[\s-]+", "-", text)


def page_of(root: Path, name: str) -> Path | None:
    """The source of a page of the site."""
    candidates = [f"docs/{name}.md", f"docs/{name}/index.md", f"docs/{name}/README.md"] if name else ["docs/index.md"]
    return next((root / one for one in candidates if (root / one).is_file()), None)


def anchors(root: Path, page: Path) -> set[str]:
    text = page.read_text(encoding="utf-8")
    # The Rust guide is put together from the chapters of the crate's manual.
    for chapters in re.findall(r"<!-- manual: ([\w ]+) -->", text):
        text += "".join(
            (root / "crates/core-ext/manual" / f"{name}.md").read_text(encoding="utf-8") for name in chapters.split()
        )
    return {slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def wrong_here(root: Path, link: str) -> str | None:
    """What is wrong with a link to this repository or its site; None: nothing, or it is another site's."""
    if match := REPOSITORY.fullmatch(link.partition("#")[0]):
        return None if (root / match[1]).exists() else "there is no such file"
    if match := SITE.fullmatch(link):
        page = page_of(root, match[1])
        if page is None:
            return "the site has no such page"
        if match[2] and match[2] not in anchors(root, page):
            return f"the page has no anchor #{match[2]}"
    return None


def ask(link: str, timeout: float) -> tuple[bool, str]:
    """Whether a link is broken, and what was answered (empty: all is well)."""
    request = urllib.request.Request(link.partition("#")[0], headers={"User-Agent": "Mozilla/5.0 (link check)"})
    try:
        with urllib.request.urlopen(request, timeout=timeout):
            return False, ""
    except urllib.error.HTTPError as error:
        with error:  # it holds the answer's body
            return error.code in (404, 410), f"{error.code} {error.reason}"
    except urllib.error.URLError as error:
        return "Name or service not known" in str(error.reason), str(error.reason)
    except OSError as error:
        return False, str(error)


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(description="Checks links to other sites, and to this repository by address.")
    parser.add_argument("--offline", action="store_true", help="ask no other site")
    parser.add_argument("--timeout", type=float, default=20, help="seconds for each answer (default 20)")
    options = parser.parse_args(arguments)
    found = links(root)
    broken = {link: what for link in found if (what := wrong_here(root, link))}
    doubtful: dict[str, str] = {}
    others = [link for link in found if not OWN.match(link)]
    if not options.offline:
        with ThreadPoolExecutor(8) as pool:
            for link, (is_broken, what) in zip(
                others, pool.map(lambda link: ask(link, options.timeout), others), strict=True
            ):
                if what:
                    (broken if is_broken else doubtful)[link] = what
    for title, some in (("not checked", doubtful), ("broken", broken)):
        for link, what in some.items():
            print(f"{title}: {link}: {what}\n    {', '.join(found[link])}")
    asked = 0 if options.offline else len(others)
    print(f"{len(found)} links, {asked} sites asked: {len(broken)} broken, {len(doubtful)} not checked")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
