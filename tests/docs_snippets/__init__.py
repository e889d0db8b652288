"""Checks of the documentation: snippets run, commands and flags exist, Python has the right types, links work.

Each checker is a function that raises `WrongPage` with the page and the line; `test_docs.py` calls them for all pages.
The blocks of a page are taken in order and run in one folder:

- `python` runs as a script; with a `title` it is a file that other blocks use.
- `console` lines that begin with `$ ` are run by bash, the others must appear in the output in that order.
  `…` stands for any text, and on a line of its own for any number of lines. `exit=N` names the expected exit code.
- Any other language with a `title` is a file in that folder.
- `<!-- needs the extra ocr -->` on the line before a block runs it only where that extra is installed.
- `<!-- not run: reason -->` on the line before a block leaves it out; its types, commands and flags are checked anyway.

Port 8000 is replaced by a free port, and commands that end in ` &` run until the page is done.
"""
