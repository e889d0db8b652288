"""The pieces alone: look at a page, act by number, look again: `python examples/by_hand.py [FOLDER]`.

No task and no model. With a folder, the marked picture is written there; in a notebook an observation shows itself.
"""

import sys
from pathlib import Path
from shutil import which

from playwright.sync_api import sync_playwright

from vision_agent.actions import Click, Type
from vision_agent.settings import load
from vision_agent.sync_api import attach

PAGE = """<title>Notes</title>
<h1>Notes</h1>
<label>Note <input></label>
<button onclick="document.querySelector('ul').innerHTML += '<li><label><input type=checkbox> ' +
  document.querySelector('input').value + '</label>'">Add</button>
<ul></ul>"""


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=load().browser.executable_path or which("chromium"))
        page = browser.new_page()
        page.set_content(PAGE)

        with attach(page) as watched:
            seen = watched.observe()
            print(seen.listing, end="\n\n")
            number = {mark.name: mark.number for mark in seen.marks}

            for action in (Type(target=number["Note"], text="Water the plants"), Click(target=number["Add"])):
                outcome = watched.act(action, seen)
                print(outcome.status, outcome.sentence)
                # Numbers are those of the latest look. They stay with their elements, so the old ones still hold.
                seen = watched.observe()

            print("\n" + seen.listing)
            if len(sys.argv) > 1 and seen.marked.data is not None:
                path = Path(sys.argv[1]) / "marked.png"
                path.write_bytes(seen.marked.data)
                print(f"\nPicture: {path}")
        browser.close()


if __name__ == "__main__":
    main()
