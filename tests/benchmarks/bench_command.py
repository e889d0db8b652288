"""What benchmarks with one table share: their command, which prints the table, or the data with `--json`."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any


def run_command(about: str | None, run: Callable[[], Awaitable[list[Any]]], show: Callable[[list[Any]], None]) -> None:
    """Runs a benchmark and prints its rows; `about` is the help."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--json", action="store_true", help="print data instead of a table")
    wants = parser.parse_args()

    async def rows() -> list[Any]:
        return await run()

    found = asyncio.run(rows())
    if wants.json:
        print(json.dumps([asdict(each) for each in found], indent=2))
    else:
        show(found)
