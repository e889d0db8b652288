"""Claims about the documentation: what its pages show is what happens, and what they link to exists."""

from __future__ import annotations

import ast
import asyncio
import builtins
import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
from docs_snippets.blocks import PAGES, ROOT, WrongPage, blocks_of, commands_of, has_snippets, name_of, snippet_pages
from docs_snippets.commands import check_commands, check_files
from docs_snippets.links import anchors_of, check_links, check_links_of
from docs_snippets.python_types import check_types, has_pyright
from docs_snippets.run_blocks import missing_line, run_page, snippet_environment
from jsonschema import Draft202012Validator, ValidationError
from messages_server import MessagesServer, saying

import vision_agent
from tests.record.record_builder import story, write_run
from vision_agent.actions import ACTIONS
from vision_agent.events import Event
from vision_agent.integrations.mcp.tools import offered_tools
from vision_agent.settings import load
from vision_agent.types import Ending

ROOT_FILES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]

DONE = {
    "judgement": "success",
    "summary": "The task is done.",
    "memory": "",
    "next_goal": "",
    "candidates": [],
    "actions": [{"kind": "finish", "success": True, "answer": "Done."}],
}
"""What the model of the tests answers."""


WEEKLY_PAGE = "guides/compare-models.md"
"""Its commands run three evaluations, which takes two minutes."""


def by_name(pages: list[Path]) -> dict[str, object]:
    return {"argvalues": pages, "ids": [name_of(each) for each in pages]}


def snippet_pages_as_often_as_they_run() -> dict[str, object]:
    pages = snippet_pages()
    weekly = (pytest.mark.weekly, pytest.mark.thorough)
    marked = [pytest.param(each, marks=weekly if each.match(WEEKLY_PAGE) else ()) for each in pages]
    return {"argvalues": marked, "ids": [name_of(each) for each in pages]}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", **snippet_pages_as_often_as_they_run())
async def test_the_snippets_of_a_page_run(page: Path, tmp_path: Path, api: MessagesServer) -> None:
    if not has_snippets(page):
        pytest.skip("no snippets")
    api.answers = [saying(json.dumps(DONE))]
    folder = tmp_path / "work"
    folder.mkdir()
    environment = snippet_environment(tmp_path / "bin", api.base_url)
    await asyncio.to_thread(run_page, page, folder, environment)


@pytest.mark.parametrize("page", **by_name(snippet_pages()))
def test_commands_flags_and_files_of_a_page_exist(page: Path) -> None:
    check_commands(page)
    check_files(page)


@pytest.mark.parametrize("page", **by_name([*sorted(PAGES.rglob("*.md")), *ROOT_FILES]))
def test_the_links_of_a_page_lead_somewhere(page: Path, generated: dict[str, str]) -> None:
    check_links(page, generated)


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_the_python_of_all_pages_has_the_right_types(tmp_path: Path) -> None:
    if not has_pyright():
        pytest.skip("pyright cannot run: `make rest-packages` installs it, and it needs Node")
    check_types(snippet_pages(), tmp_path, ROOT / ".mypy_cache" / "docs")


# --- the checkers -----------------------------------------------------------------------------------------------------


def page_with(tmp_path: Path, *lines: str) -> Path:
    page = tmp_path / "page.md"
    page.write_text("\n".join(lines) + "\n", "utf-8")
    return page


def run(page: Path) -> None:
    folder = page.parent / "work"
    folder.mkdir()
    run_page(page, folder, snippet_environment(page.parent / "bin", "http://127.0.0.1:9"))


def test_files_and_variables_of_a_page_are_there_for_its_later_blocks(tmp_path: Path) -> None:
    page = page_with(
        tmp_path,
        '```python title="shop.py"',
        "PRICE = 3",
        "```",
        '=== "Tab"',
        "",
        "    ```python",
        "    from shop import PRICE",
        "",
        "    if PRICE:",
        "        open('price', 'w').write(str(PRICE))",
        "    ```",
        "```console",
        "$ export NAME=Ann && mkdir sub && cd sub",
        "$ cat ../price; echo; echo $NAME \\",
        "  8000",
        "3",
        "Ann …",
        "```",
        "```console exit=3",
        "$ pwd",
        "…/sub",
        "$ exit 3",
        "```",
    )
    run(page)


def test_a_server_of_a_page_serves_until_the_page_is_done(tmp_path: Path) -> None:
    page = page_with(
        tmp_path,
        '```html title="shop.html"',
        "<title>Shop</title>",
        "```",
        "```console",
        "$ python -m http.server 8000 --bind 127.0.0.1 &",
        "```",
        "```python",
        "from urllib.request import urlopen",
        'print(urlopen("http://127.0.0.1:8000/shop.html").read().decode())',
        "```",
    )
    run(page)


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["```python", "raise SystemExit(4)", "```"], r"page\.md:1: .* exits with 4, not 0"),
        (["", "```console", "$ false", "```"], r"page\.md:2: `false` exits with 1"),
        (["```console exit=2", "$ true", "```"], "exits with 0, not 2"),
        (["```console", "$ echo Ann", "Bob", "```"], "does not print this line, or not in this place:\nBob"),
        (["```console", "Bob", "```"], "without a command"),
        (["```console", "$ true"], "never closed"),
        (["```console", "$ python -c 1 # 8000 &", "```"], "serves nothing"),
    ],
)
def test_a_wrong_snippet_is_found(lines: list[str], fault: str, tmp_path: Path) -> None:
    with pytest.raises(WrongPage, match=fault):
        run(page_with(tmp_path, *lines))


def test_a_block_that_is_not_to_run_does_not_run(tmp_path: Path) -> None:
    run(page_with(tmp_path, "<!-- not run: it needs a key -->", "```console", "$ false", "```"))


@pytest.mark.parametrize(
    ("shown", "missing"),
    [
        (["one", "three"], None),
        (["one", "…", "three"], None),
        (["t…o"], None),
        (["three", "one"], "one"),
        (["tw"], "tw"),
    ],
)
def test_shown_lines_are_looked_for_in_order(shown: list[str], missing: str | None) -> None:
    assert missing_line(shown, "one\n  two\nthree\n") == missing


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("$ vision-agent dance", "no command dance"),
        ("$ vision-agent run http://127.0.0.1/ Go --dance", "vision-agent run has no option --dance"),
        ("$ cd x && vision-agent memory add --dance", "vision-agent memory add has no option --dance"),
        ("$ vision-agent marks", "does not take 0 arguments"),
        ("$ vision-agent run a b c", "does not take 3 arguments"),
    ],
)
def test_a_wrong_command_is_found(line: str, fault: str, tmp_path: Path) -> None:
    page = page_with(tmp_path, "<!-- not run: a test -->", "```console", line, "```")
    with pytest.raises(WrongPage, match=fault):
        check_commands(page)


@pytest.mark.parametrize("text", ["`vision-agent run --dance`", "Type `vision-agent dance`."])
def test_a_wrong_command_in_the_prose_is_found(text: str, tmp_path: Path) -> None:
    with pytest.raises(WrongPage, match="dance"):
        check_commands(page_with(tmp_path, text))


def test_right_commands_are_right(tmp_path: Path) -> None:
    page = page_with(
        tmp_path,
        "`vision-agent run --help`, `vision-agent memory` and `vision-agent run URL --steps lines.txt`",
        "```console",
        '$ vision-agent run http://127.0.0.1:8000/ "Go on" --steps lines.txt --max-steps=3 | tail -n 1',
        "$ vision-agent marks http://127.0.0.1:8000/ \\",
        "    --out look && vision-agent --version",
        "```",
    )
    check_commands(page)


@pytest.mark.parametrize(
    "lines",
    [
        ["```toml", "a =", "```"],
        ["```json", "{a}", "```"],
        ['```toml title="vision-agent.toml"', "[browser]", "dance = 1", "```"],
        ['```toml title="policy.toml"', "dance = 1", "```"],
    ],
)
def test_a_wrong_file_is_found(lines: list[str], tmp_path: Path) -> None:
    with pytest.raises(WrongPage):
        check_files(page_with(tmp_path, *lines))


@pytest.mark.parametrize(
    ("link", "fault"),
    [
        ("[a](gone.md)", "leads to no file"),
        ("![a](gone.png)", "leads to no file"),
        ('<img src="gone.png">', "leads to no file"),
        ("[a]: gone.md", "leads to no file"),
        ("[a](#gone)", "leads to no heading"),
        ("[a](page.md#gone)", "leads to no heading"),
        ("[a](http://example.org/)", "is not https"),
        ("[a](https://example/)", "is no address"),
        ("<http://example.org/>", "is not https"),
    ],
)
def test_a_dead_link_is_found(link: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(WrongPage, match=f"page.md:3: .* {fault}"):
        check_links(page_with(tmp_path, "# Here", "", f"See {link}." if link[-1] != "d" else link))


def test_links_that_lead_somewhere_are_right(tmp_path: Path) -> None:
    page = page_with(
        tmp_path,
        "# What it *sees*, and `how`",
        "## Twice",
        "## Twice",
        "## Named {#own}",
        '<a id="here"></a>',
        "[a](#what-it-sees-and-how) [b](page.md#twice_1) [c](#own) [d](#here) [e](https://example.org/a#b)",
        "`[not a link](gone.md)` and http://127.0.0.1:8000/",
        "```text",
        "[nor this](gone.md)",
        "```",
    )
    check_links(page)


@pytest.mark.thorough
@pytest.mark.timeout(300)
def test_wrong_types_are_found_by_both_checkers(tmp_path: Path) -> None:
    if not has_pyright():
        pytest.skip("pyright cannot run")
    page = page_with(
        tmp_path,
        "<!-- not run: a test -->",
        "```python",
        "from vision_agent import Limits",
        "",
        'Limits(steps="few")',
        "```",
    )
    with pytest.raises(WrongPage) as caught:
        check_types([page], tmp_path / "types", tmp_path / "cache")
    assert "page.md:5: error" in str(caught.value)
    assert "page.md:5:14 - error" in str(caught.value)


def test_every_page_can_be_read() -> None:
    for page in snippet_pages():
        for block in blocks_of(page):
            if block.language == "console":
                assert commands_of(block), f"{name_of(page)}:{block.line} has no command"


# --- the generated reference ------------------------------------------------------------------------------------------


def module_of(name: str) -> Any:
    """A module of the folder `docs`, found as MkDocs finds it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        return import_module(name)


@pytest.fixture(scope="session")
def reference() -> Any:
    return module_of("reference")


@pytest.fixture(scope="session")
def generated(reference: Any) -> dict[str, str]:
    return dict(reference.pages())


def test_every_public_name_is_in_the_reference(generated: dict[str, str]) -> None:
    text = generated["reference/python/index.md"]
    assert [name for name in vision_agent.__all__ if f"[`{name}`]" not in text] == []


def test_no_heading_is_where_a_signature_links_a_name_of_python_to(generated: dict[str, str]) -> None:
    found = {path: anchors_of(text) & set(dir(builtins)) for path, text in generated.items() if path.endswith(".md")}
    assert {path: names for path, names in found.items() if names} == {}


def test_every_argument_that_a_docstring_explains_exists() -> None:
    sources = {path: path.read_text("utf-8") for path in (ROOT / "vision_agent").rglob("*.py")}
    wrong = [
        f"{path.name}: {name} has no {argument}"
        for path, source in sources.items()
        if "Args:\n" in source
        for name, arguments, explained in documented_calls(ast.parse(source))
        for argument in explained - arguments
    ]
    assert wrong == []


def documented_calls(tree: ast.Module) -> Iterator[tuple[str, set[str], set[str]]]:
    """Each function, and each class with a constructor: its name, its arguments, and those its docstring explains."""
    for each in ast.walk(tree):
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        made = next((member for member in each.body if getattr(member, "name", "") == "__init__"), each)
        block = re.search(r"^Args:\n((?: +.*\n?)+)", ast.get_docstring(each) or "", re.MULTILINE)
        if block and not isinstance(made, ast.ClassDef):
            taken = {every.arg for every in ast.walk(made.args) if isinstance(every, ast.arg)}
            yield each.name, taken, set(re.findall(r"^    (\S[^:\n]*):", block[1], re.MULTILINE))


def test_every_command_and_option_is_in_the_reference(reference: Any, generated: dict[str, str]) -> None:
    sections = re.split(r"^## ", generated["reference/cli.md"], flags=re.MULTILINE)
    for path, command in reference.command_line.commands():
        [section] = [each for each in sections if each.startswith(f"`{path}` ")]
        # A hidden option is one of a shared group, which this command refuses with the reason.
        offered = [each for each in command.params if not getattr(each, "hidden", False)]
        for option in (name for each in offered for name in each.opts if name.startswith("-")):
            assert f"`{option}`" in section, f"{path} {option}"


def test_every_setting_is_in_the_reference_with_its_variable(reference: Any, generated: dict[str, str]) -> None:
    text = generated["reference/settings.md"]
    keys = [key for key, _ in reference.settings.settings_keys()]
    assert {"runs", "browser.headless", "browser.proxy.server", "model.filter.kinds", "limits.steps"} <= set(keys)
    for key in keys:
        variable = "VISION_AGENT_" + key.upper().replace(".", "__")
        section = text.partition(f"### `{key}` {{ #{key} }}")[2].partition("\n### ")[0]
        assert f"`{variable}`" in section, key
        assert not section.strip().startswith("**Type"), f"{key} has no docstring"


def test_a_variable_of_the_reference_sets_its_setting(reference: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(reference.settings.environment_name("model.filter.above_lines"), "7")
    assert load().model.filter.above_lines == 7


def test_every_action_and_event_is_in_the_reference(generated: dict[str, str]) -> None:
    for kind in [each.model_fields["kind"].default for each in ACTIONS]:
        assert f"## `{kind}` " in generated["reference/actions.md"]
    for event in [each.model_fields["event"].default for each in get_args(get_args(Event)[0])]:
        assert f"## `{event}` " in generated["reference/events.md"]


def test_every_tool_for_other_agents_is_in_their_guide() -> None:
    guide = (ROOT / "docs/pages/guides/other-agents.md").read_text("utf-8")
    table = guide.partition("\n## What an agent can call\n")[2].partition("\n## ")[0]
    assert [name for name in offered_tools(uploads=True, lends=True) if f"`{name}`" not in table] == []


def test_every_kind_of_action_has_a_step_line_in_the_reference(generated: dict[str, str]) -> None:
    text = generated["reference/step-lines.md"]
    kinds = [each.model_fields["kind"].default for each in ACTIONS]
    assert [kind for kind in kinds if f'"kind": "{kind}"' not in text] == []


def test_a_saved_sign_in_is_not_called_a_session_in_prose() -> None:
    """A session is what a client of `vision-agent mcp` opens; options, settings and commands keep their names."""
    for page in ("log-in.md", "own-browser.md", "resume.md", "records.md"):
        prose = re.sub(r"```.*?```|`[^`]*`|golden session", "", (PAGES / "guides" / page).read_text(), flags=re.DOTALL)
        assert not re.findall(r"[^.]*\bsessions?\b[^.]*", prose, re.IGNORECASE), page


def test_every_exit_code_is_explained(generated: dict[str, str]) -> None:
    text = generated["reference/exit-codes.md"]
    for status in get_args(Ending.model_fields["status"].annotation):
        code = Ending(status=status, sentence="").exit_code
        [row] = [line for line in text.splitlines() if line.startswith(f"| `{code}` |")]
        assert f"`{status}`" in row
        assert row.split("|")[2].strip()
    assert text.count("`NoSuchRun`") == 1


def test_every_file_is_listed_with_a_phrase(generated: dict[str, str]) -> None:
    rows = [line.split(" | ") for line in generated["reference/files.md"].splitlines() if line.startswith("| `")]
    listed = {row[0].removeprefix("| ").strip("`") for row in rows}
    assert {path.name for path in (ROOT / "vision_agent").rglob("*.py") if path.stat().st_size} <= listed
    assert {path.name for path in (ROOT / "overlay_js" / "src").glob("*.js")} <= listed
    assert [row for row in rows if not row[1].strip(" |")] == []


def test_a_run_folder_matches_its_schemas(generated: dict[str, str], tmp_path: Path) -> None:
    folder = write_run(tmp_path, story()).path
    run, line = (
        Draft202012Validator(json.loads(generated[f"reference/schemas/{name}.schema.json"])) for name in ("run", "line")
    )
    run.validate(json.loads((folder / "run.json").read_text("utf-8")))
    events = [json.loads(each) for each in (folder / "steps.jsonl").read_text("utf-8").splitlines()]
    assert len(events) > 10
    for event in events:
        line.validate(event)
    with pytest.raises(ValidationError):
        line.validate({**events[1], "dance": 1})


def test_the_galleries_show_both_pictures_of_each_of_their_pages() -> None:
    made = module_of("gallery")
    names = {"gallery.md": [*made.GALLERY], "gallery-canvas.md": [*made.CANVASES]}
    for page, shown_there in names.items():
        pictures = [f"{name}-{when}.webp" for name in shown_there for when in ("after", "before")]
        shown = re.findall(r"!\[[^]]+\]\(pictures/gallery/([^)]+)\)", (PAGES / page).read_text("utf-8"))
        assert sorted(shown) == sorted(pictures)
    every = {f"{name}-{when}.webp" for each in names.values() for name in each for when in ("after", "before")}
    assert {path.name for path in (PAGES / "pictures" / "gallery").iterdir()} == every


def test_links_within_the_reference_lead_somewhere(generated: dict[str, str]) -> None:
    for path, text in generated.items():
        if path.endswith(".md"):
            check_links_of(PAGES / path, text, generated)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.html", '<script src="https://example.org/a.js"></script>'),
        ("a.html", '<link rel="stylesheet" href="//example.org/a.css">'),
        ("a.html", '<img srcset="a.png, https://example.org/b.png 2x">'),
        ("a.html", "<p style='background: url(https://example.org/a.png)'>"),
        ("a.css", '@import "https://example.org/a.css";'),
    ],
)
def test_a_load_from_another_server_is_found(file: str, text: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(text, "utf-8")
    assert len(list(module_of("foreign_loads").foreign_loads(tmp_path))) == 1


def test_links_and_files_of_the_site_are_no_foreign_loads(tmp_path: Path) -> None:
    text = '<a href="https://example.org/">a</a><img src="a.png"><link rel="canonical" href="https://example.org/">'
    (tmp_path / "a.html").write_text(text, "utf-8")
    assert list(module_of("foreign_loads").foreign_loads(tmp_path)) == []
