"""The perception score over the labelled fixture pages and the pages of other projects: `make bench-perception`.

With `--held-out first`, `second` or `third`, over the pages of one of `HELD_OUT` instead: they use libraries that the
marks had never been tuned on, and were labelled by hand before the first score: `make bench-held-out`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

sys.path.insert(0, str(Path(__file__).parent.parent))
from pages import CACHE, MissingPages, site, sites

from vision_agent.evals.perception.run import run
from vision_agent.evals.perception.score import FIXTURES, PageToScore
from vision_agent.evals.perception.summary import show, summary
from vision_agent.settings import load
from vision_agent.vision.ocr import can_read

SHEET = Path("test-results") / "perception.png"
HELD_OUT = {
    "first": Path(__file__).parent / "held_out",
    "second": Path(__file__).parent / "held_out_second",
    "third": Path(__file__).parent / "held_out_third",
    "fourth": Path(__file__).parent / "held_out_fourth",
}
"""Three sets of pages; each was scored once before anything was changed for it."""


def main() -> int:
    """0 when every figure that is declared is reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print data instead of tables")
    parser.add_argument("--only", nargs="*", help="names of packages, `fixtures`, or held-out pages", default=None)
    parser.add_argument("--held-out", choices=HELD_OUT, help="the held-out pages of one set, and no others")
    parser.add_argument("--no-ocr", action="store_true", help="leave out reading the numbers back, which takes longest")
    parser.add_argument("--rounds", type=int, default=5, help="how often each page is timed")
    asked = parser.parse_args()
    told = Console(stderr=True)
    known = held_out(HELD_OUT[asked.held_out]) if asked.held_out else ["fixtures", *sites()]
    if unknown := set(asked.only or ()) - set(known):
        parser.error(f"no such package: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    with_ocr = not asked.no_ocr and can_read()
    if not (with_ocr or asked.no_ocr):
        told.print("The numbers are not read back: rapidocr is not installed", style="yellow")
    with_fixtures = not asked.held_out and (asked.only is None or "fixtures" in asked.only)
    with ExitStack() as stack:
        if asked.held_out:
            pages = _held_out(HELD_OUT[asked.held_out], asked.only, told, stack)
        else:
            pages = _pages(asked.only, told)
        if not (pages or with_fixtures):
            return 1
        status = stack.enter_context(told.status("opening a browser"))

        def tell(text: str) -> None:
            status.update(text)
            if "could not" in text:
                told.print(text, style="yellow")

        settings = load().browser
        result = run(
            [FIXTURES] if with_fixtures else [],
            pages,
            settings=settings,
            with_ocr=with_ocr,
            rounds=asked.rounds,
            sheet_to=SHEET,
            tell=tell,
        )
    if asked.json:
        print(json.dumps(summary(result.scores, result.churn), indent=2))
    else:
        show(Console(), result.scores, result.churn)
    if result.sheet:
        told.print(f"a sample to check by eye: {result.sheet}")
    return 0 if result.is_reached else 1


def _pages(only: list[str] | None, told: Console) -> list[PageToScore]:
    pages = []
    for package in sites():
        if only is not None and package not in only:
            continue
        try:
            with told.status(f"fetching {package}"):
                found = site(package)
        except MissingPages as error:
            told.print(f"{package} is left out: {error}", style="yellow")
            continue
        pages += [PageToScore(f"{package} {path}", found.root, path) for path in found.pages]
    return pages


def held_out(folder: Path) -> list[str]:
    """The names of the pages of a set."""
    return sorted(path.stem for path in folder.glob("*.html"))


def _held_out(source: Path, only: list[str] | None, told: Console, stack: ExitStack) -> list[PageToScore]:
    """The pages of a set, each laid out with its libraries under `lib` for as long as the stack is open."""
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=CACHE)))  # on the disk of the packages
    pages = []
    for name in held_out(source):
        if only is not None and name not in only:
            continue
        labels = source / f"{name}.json"
        package = json.loads(labels.read_text("utf-8"))["package"]
        try:
            with told.status(f"fetching {package}"):
                root = site(package).root
        except MissingPages as error:
            told.print(f"{name} is left out: {error}", style="yellow")
            continue
        # Linked file by file: only what is in the folder itself is served.
        shutil.copytree(root, folder / name / "lib", copy_function=os.link)
        (folder / name / f"{name}.html").write_bytes((source / f"{name}.html").read_bytes())
        pages.append(PageToScore(f"{package} {name}.html", folder / name, f"{name}.html", labels))
    return pages


if __name__ == "__main__":
    sys.exit(main())
