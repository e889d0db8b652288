"""Claims about joining the overlay's modules into one script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import Page

import vision_agent
from vision_agent import assets
from vision_agent.browser.page.overlay import join, script
from vision_agent.evals import hit_oracle


def test_a_module_comes_after_those_it_imports_and_once() -> None:
    joined = join(
        {
            "main.js": "import { a } from './a.js';\nimport { b } from './b.js';\nexport const engine = a + b;",
            "a.js": "import { b } from './b.js';\nexport const a = b + 1;",
            "b.js": "export const b = 1;",
        },
        "main.js",
        "engine",
    )
    assert joined.index("const b") < joined.index("const a") < joined.index("const engine")
    assert joined.count("const b = 1") == 1
    assert "import" not in joined
    assert "export" not in joined


async def test_what_is_joined_runs_as_one_expression(page: Page) -> None:
    joined = join(
        {"main.js": "import { two } from './two.js';\nexport const engine = two;", "two.js": "export const two = 2;"},
        "main.js",
        "engine",
    )
    assert await page.evaluate(joined) == 2


async def test_comments_go_and_signs_beyond_ascii_mean_the_same(page: Page) -> None:
    source = """// One.
/**
 * Two. */
export const engine = [
  /** Three. */ '−', // four
  '//', '/* five */', /[–—]+/u.test('a — b'), `é`,
  // 'six',
];
"""
    joined = join({"main.js": source}, "main.js", "engine")
    assert joined.isascii()
    assert [word for word in ("One", "Two", "Three", "four", "five", "six") if word in joined] == [
        "Three", "four", "five",
    ]  # fmt: skip
    assert await page.evaluate(joined) == ["−", "//", "/* five */", True, "é"]


def test_a_sign_that_takes_two_escapes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"main\.js: characters beyond U\+FFFF"):
        join({"main.js": "export const engine = '🗑';"}, "main.js", "engine")


@pytest.mark.parametrize(
    "line",
    [
        "import * as all from './a.js';",
        "import one from './a.js';",
        "import './a.js';",
        "import { a } from 'lodash';",
        "import {",
        "export default 1;",
        "export { a };",
        "export let a = 1;",
        "export * from './a.js';",
    ],
)
def test_anything_but_plain_imports_and_exports_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"main\.js"):
        join({"main.js": line, "a.js": "export const a = 1;"}, "main.js", "engine")


def test_a_module_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match=r"imports gone\.js, which does not exist"):
        join({"main.js": "import { a } from './gone.js';"}, "main.js", "engine")


def test_two_modules_may_not_use_the_same_top_level_name() -> None:
    with pytest.raises(ValueError, match=r"a\.js and b\.js both define tidy|b\.js and a\.js both define tidy"):
        join(
            {
                "main.js": "import { x } from './a.js';\nimport { y } from './b.js';",
                "a.js": "function tidy() {}\nexport const x = 1;",
                "b.js": "const tidy = 1;\nexport const y = 1;",
            },
            "main.js",
            "engine",
        )


def test_the_whole_overlay_joins_and_every_module_is_used() -> None:
    joined = script() + hit_oracle.script()
    for name, source in assets.overlay_sources().items():
        body = [line for line in source.splitlines() if line.startswith(("function ", "export function "))]
        assert all(line.removeprefix("export ") in joined for line in body), name


@pytest.mark.parametrize("source", [script, hit_oracle.script])
async def test_what_is_joined_is_an_engine(page: Page, source: Callable[[], str]) -> None:
    assert await page.evaluate(f"Object.keys({source()})") == ["query", "queryAll"]


def test_the_hit_oracle_shares_nothing_with_what_it_judges_but_the_reading_of_the_dom() -> None:
    sources = assets.overlay_sources()
    imported = [line for line in sources["hit_oracle.js"].splitlines() if line.startswith("import ")]
    assert {line.rpartition(" from ")[2] for line in imported} == {"'./dom.js';"}
    assert not [name for name, source in sources.items() if "'./hit_oracle.js'" in source]


def test_every_line_of_javascript_ends_at_120_columns() -> None:
    package = Path(vision_agent.__file__).parent
    scripts = {str(path.relative_to(package)): path.read_text() for path in package.rglob("*.js")}
    sources = {**assets.overlay_sources(), **scripts}
    lines = [(name, at, line) for name, text in sources.items() for at, line in enumerate(text.splitlines(), 1)]
    assert [f"{name}:{at}" for name, at, line in lines if len(line) > 120] == []
