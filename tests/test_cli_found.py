"""Claims about what the command line tells at the end of a run: what was read, and what was downloaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.test_cli import vision_agent

PAGE = """<title>Shop</title>
<table><tr><th>Article<th>Price<tr><td>Enamel mug<td>14<tr><td>Glass mug<td>9</table>
<label>Code <input id=code></label> <output></output>
<button onclick="document.querySelector('output').value = 'It is ' + code.value">Send</button>
<a href="data:text/plain,14 euros" download="invoice-7.txt">Invoice</a>"""


def run_lines(url: str, lines: str, folder: Path, *more: str, **environment: str) -> Any:
    file = folder / "lines.txt"
    file.write_text(lines, "utf-8")
    return vision_agent("run", url, "--steps", str(file), f"--runs={folder / 'runs'}", "--name=r", *more, **environment)


def test_what_a_run_of_lines_read_and_downloaded_is_told_in_a_line_each(serve: Any, tmp_path: Path) -> None:
    done = run_lines(serve({"/": PAGE}), "read page\nclick Invoice\nread download\nfinish\n", tmp_path)
    assert (done.returncode, done.stdout) == (0, "The task is done.\n"), done.stderr
    told = [line.strip() for line in done.stderr.splitlines()]
    assert any(line.startswith("read     ") and "Enamel mug" in line and "Glass mug" in line for line in told)
    assert "read     14 euros" in told
    assert f"download {tmp_path / 'runs' / 'r' / 'downloads' / 'invoice-7.txt'}" in told


def test_json_has_the_whole_texts_without_secrets_and_the_paths_of_downloads(serve: Any, tmp_path: Path) -> None:
    lines = 'type "<secret:code>" into Code\nclick Send\nread page\nclick Invoice\nfinish\n'
    more = "--json", "--secret", "code=CODE", "--expect", "download=invoice-7.txt"
    run = run_lines(serve({"/": PAGE}), lines, tmp_path, *more, CODE="HUNTER2SECRET")
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout)
    (read,) = said["reads"]
    assert "It is <secret:code>" in read
    assert "HUNTER2SECRET" not in run.stdout
    assert said["downloads"] == [str(tmp_path / "runs" / "r" / "downloads" / "invoice-7.txt")]


def test_a_run_whose_expected_download_did_not_come_is_not_done(serve: Any, tmp_path: Path) -> None:
    url = serve({"/": PAGE})
    kept = run_lines(url, "click Invoice\nfinish\n", tmp_path, "--expect", "download=invoice-*.txt")
    assert (kept.returncode, kept.stdout) == (0, "The task is done.\n"), kept.stderr
    (tmp_path / "runs").rename(tmp_path / "earlier")
    missing = run_lines(url, "click Invoice\nfinish\n", tmp_path, "--expect", "download=*.pdf")
    assert missing.returncode == 1
    assert "a file named *.pdf must have been downloaded, and only invoice-7.txt was" in missing.stdout
