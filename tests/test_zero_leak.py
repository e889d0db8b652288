"""Nothing that a run leaves behind holds a secret: no file, no name, no member of an archive, no line on a terminal.

One task is done by a model on a page that tells back what was typed, in every form it can think of, and then again by
a replay that has other secrets and is healed by a model. All that can be made of the two is made.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from PIL import Image

from tests.conftest import Server
from tests.messages_server import Answer, MessagesServer, saying
from vision_agent.export.animation import write_animation
from vision_agent.export.formats import FORMS, export
from vision_agent.record import read, verify
from vision_agent.record.diff import diff
from vision_agent.record.diff_page import write_diff
from vision_agent.record.store import DOWNLOADS
from vision_agent.types import Run

SECRETS = {"word": "HUNTER2SECRET", "phrase": 'tr0ub"dör/ &3 \\x'}
OTHERS = {"word": "Wanderer-41-b", "phrase": "über'all=7% <q>"}

ECHO = """<!doctype html><title>Sign in</title>
<style>body { font: 16px sans-serif } input { width: 300px }
#told { position: fixed; top: 600px; color: transparent }</style>
<label>Word <input id=word></label> <label>Phrase <input id=phrase></label>
<button id=send>Send</button> <button id=keep>Keep</button>
<button aria-label=%s onclick="this.textContent = 'Gone on'">Go on</button>
<p id=told></p><a id=again href="#">Again</a>
<script>
  const base64 = text => btoa(unescape(encodeURIComponent(text)));
  const forms = text => [text, JSON.stringify(text), encodeURIComponent(text), base64(text), base64('x' + text),
    base64('xy' + text), base64(JSON.stringify({ text }))];
  const all = () => [word.value, phrase.value].flatMap(forms);
  send.onclick = () => {
    document.title = all().join(' ');
    told.textContent = all().join(' ');
    again.ariaLabel = all()[0] + ' ' + all()[9];
    history.replaceState(0, '', '?' + new URLSearchParams({ word: word.value, phrase: phrase.value }) + '#' + all()[3]);
    document.cookie = 'told=' + encodeURIComponent(phrase.value);
    console.error(...all());
    alert(phrase.value);
  };
  keep.onclick = () => {
    for (const [name, text] of [['list', all().join('\\n')], [word.value + phrase.value, 'nothing']]) {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text]));
      link.download = name + '.txt';
      link.click();
    }
  };
</script>"""


def forms_of(value: str) -> set[bytes]:
    """What may stand nowhere: the value as it is, in JSON, in an address, and in base64 wherever it begins there.

    Of base64 the characters are taken that hold nothing but the value, whatever stands before and after it.
    """
    utf8 = value.encode()
    written = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    written |= {quote(value), quote(value, safe=""), quote_plus(value)}
    forms = {each.encode() for each in written}
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + utf8 + b"\0" * (-(before + len(utf8)) % 3))
        middle = whole[-(-before * 8 // 6) : (before + len(utf8)) * 8 // 6]
        forms |= {middle, base64.urlsafe_b64encode(base64.b64decode(whole))[-(-before * 8 // 6) :][: len(middle)]}
    return forms


def written(value: str) -> str:
    """In each form, as somebody would repeat it who has seen it."""
    return " ".join(
        (value, json.dumps(value), quote(value), quote_plus(value), base64.b64encode(value.encode()).decode())
    )


def test_the_forms_that_are_looked_for_are_those_that_a_page_can_write() -> None:
    for value in (*SECRETS.values(), *OTHERS.values()):
        for text in (value, f"x{value}y", json.dumps({"text": value}), f"?q={quote_plus(value)}"):
            assert any(form in text.encode() for form in forms_of(value))
        for before in ("", "a", "ab", "abc"):
            assert any(form in base64.b64encode(f"{before}{value}z".encode()) for form in forms_of(value))


def contents(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """A file, and all that is packed in it: members of an archive, what stands in base64 in it, and so on inside."""
    yield name, content
    if content.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.namelist():
                yield from contents(f"{name}/{member}", archive.read(member))
    for found in re.finditer(rb"[A-Za-z0-9+/]{64,}={0,2}", content):
        packed = found.group()
        yield from contents(f"{name} at {found.start()}", base64.b64decode(packed[: len(packed) // 4 * 4]))


@dataclass(frozen=True)
class Left:
    """What two runs left behind."""

    root: Path
    run: Path
    replay: Path
    said: list[bytes]
    """On standard output and standard error."""
    requests: list[bytes]
    """To the model."""

    @property
    def runs(self) -> tuple[Run, Run]:
        return read(self.run), read(self.replay)


def said(*actions: dict[str, object], **more: str) -> Answer:
    reply = {"judgement": "unknown", "summary": "", "memory": "", "next_goal": "Go on", "candidates": []}
    return saying(json.dumps({**reply, **more, "actions": actions}))


def mark(asked: dict[str, Any], name: str) -> int:
    """Its number, as the listing of the request has it."""
    texts = [part["text"] for part in asked["messages"][0]["content"] if part["type"] == "text"]
    return next(
        int(line.split("[:]")[0])
        for text in reversed(texts)
        for line in text.splitlines()
        if re.fullmatch(rf"\d+\[:\]<.*>{name}", line)
    )


@pytest.fixture(scope="module")
async def left(serve: Server, tmp_path_factory: pytest.TempPathFactory) -> Left:
    root, api = tmp_path_factory.mktemp("left"), MessagesServer()
    await api.start()
    known, others = (" ".join(map(written, values.values())) for values in (SECRETS, OTHERS))
    api.answers = [
        lambda asked: said(
            {"kind": "type", "target": mark(asked, "Word"), "text": "<secret:word>"},
            {"kind": "type", "target": mark(asked, "Phrase"), "text": "<secret:phrase>"},
            {"kind": "click", "target": mark(asked, "Send")},
        ),
        said({"kind": "read", "what": "page"}, next_goal=f"It said {known}", memory=known, summary=known),
        lambda asked: said({"kind": "click", "target": mark(asked, "Keep")}),
        lambda asked: said({"kind": "click", "target": mark(asked, "Done")}),
        said({"kind": "finish", "answer": f"It is {known}"}),
        lambda asked: said({"kind": "click", "target": mark(asked, "Ready")}, {"kind": "finish"}, memory=others),
    ]
    environment = {
        **os.environ,
        "VISION_AGENT_MODEL__BASE_URL": api.base_url,
        "VISION_AGENT_MODEL__API_KEY": "key-of-the-test",
        "VISION_AGENT_RUNS": str(root / "runs"),
        "VISION_AGENT_MEMORY": str(root / "memory"),
        "ANTHROPIC_LOG": "debug",
    }
    given = ["--secret", "word=WORD", "--secret", "phrase=PHRASE", "--json"]
    told: list[bytes] = []

    async def command(secrets: dict[str, str], *arguments: str) -> Path:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "vision_agent", *arguments),
            env={**environment, **{name.upper(): value for name, value in secrets.items()}},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), 300)
        told.extend((out, err))
        assert process.returncode == 0, err.decode()
        return Path(json.loads(out.splitlines()[-1])["run"])

    begin = serve({"/": ECHO % "Done", "/favicon.ico": b""})
    run = await command(SECRETS, "run", begin, "Sign in", "--model", "anthropic:claude-sonnet-5-5", *given)
    changed = serve({"/": ECHO % "Ready", "/favicon.ico": b""})
    replay = await command(OTHERS, "replay", str(run), "--url", changed, "--heal", *given)
    await api.close()

    made = root / "made"
    made.mkdir()
    for folder in (run, replay):
        for form in FORMS:
            export(folder, form, made / f"{form}-of-{folder.name}")
        write_animation(folder, made / f"{folder.name}.webp")
    write_diff(diff(run, replay), made / "diff.html")
    return Left(root, run, replay, told, api.requests)


def test_no_form_of_a_secret_is_in_anything_that_a_run_leaves_or_sends_and_pictures_do_not_tell_it(left: Left) -> None:
    # One test, because the runs before it take long.
    assert_no_form_in_files_names_terminal_or_requests(left)
    assert_what_held_a_secret_was_not_kept(left)
    assert_pictures_are_the_same_whatever_the_secrets_were(left)


def assert_no_form_in_files_names_terminal_or_requests(left: Left) -> None:
    files = [path for path in left.root.rglob("*") if path.is_file()]
    assert {"patch.json", "report.html", "diff.html", "examples.jsonl", "metadata.jsonl"} <= {
        each.name for each in files
    }
    searched = [
        *((str(path.relative_to(left.root)), b"") for path in left.root.rglob("*")),
        *(each for path in files for each in contents(str(path.relative_to(left.root)), path.read_bytes())),
        *(("terminal", each) for each in left.said),
        *(each for number, request in enumerate(left.requests) for each in contents(f"request {number}", request)),
    ]
    assert len(searched) > 100
    forms = {form for value in (*SECRETS.values(), *OTHERS.values()) for form in forms_of(value)}
    # What is cut off gives a value away too.
    forms |= {value[: len(value) // 2 + 2].encode() for value in (*SECRETS.values(), *OTHERS.values())}
    found = [(name, form) for name, content in searched for form in forms if form in name.encode() + b"\n" + content]
    assert not found
    assert sum(content.count(b"<secret:word>") for _, content in searched) > 50
    for run in (left.run, left.replay):
        assert verify(run).holds


def assert_what_held_a_secret_was_not_kept(left: Left) -> None:
    for folder, run in zip((left.run, left.replay), left.runs, strict=True):
        kept = {path.name: path.read_text() for path in (folder / DOWNLOADS).iterdir()}
        assert kept == {"download": "nothing"}
        told = " ".join(change for step in run.steps for outcome in step.outcomes for change in outcome.changes)
        assert 'the download "list.txt" was not kept: it contains a secret' in told


def assert_pictures_are_the_same_whatever_the_secrets_were(left: Left) -> None:
    first, second = left.runs
    for number in range(4):
        one, other = (run.steps[number].observation for run in (first, second))
        assert [mark.name for mark in one.marks if mark.state.masked] == ["Word", "Phrase"] * (number > 0)
        for seen in (one, other):
            with Image.open(left.run / "shots" / f"{one.clean.sha256}.png") as picture:
                for mark in (mark for mark in seen.marks if mark.state.masked):
                    box = seen.clean.map.box_to_picture(mark.box)
                    inside = picture.convert("RGB").crop((box.x + 4, box.y + 4, box.right - 4, box.bottom - 4))
                    assert len(inside.getcolors() or ()) == 2, "the two tones of the stripes"
        assert one.clean.sha256 == other.clean.sha256
        assert one.marked.sha256 == other.marked.sha256
