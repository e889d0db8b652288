"""Prints the comparison of two runs in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from vision_agent.describe.action_sentences import counted
from vision_agent.record.diff import Diff, StepPair
from vision_agent.text.escape import escaped_line


def tell_diff(console: Console, found: Diff) -> None:
    """Prints a line for each pair of steps with its differences below, and a summary at the end."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1))
    for name in ("A", "B"):
        table.add_column(name, justify="right", style="dim")
    table.add_column("")
    table.add_column("", overflow="fold")
    for pair in found.pairs:
        sign, style = _sign(pair)
        words = Text(escaped_line(pair.words[0] or pair.words[1]), style="dim" if pair.is_same else "bold")
        table.add_row(str(pair.a or ""), str(pair.b or ""), Text(sign, style=style), words)
        for line in _lines(pair):
            table.add_row("", "", "", line)
    console.print(table)
    if found.parting is not None:
        console.print(Text(describe_parting(found.parting)), soft_wrap=True)
    for name, side in (("A", found.a), ("B", found.b)):
        if side.fault:
            console.print(Text(f"The record of {name} was changed or is incomplete: {side.fault}", style="red"))
    if found.ending is not None:
        console.print(Text.assemble(("ending  ", "dim"), ("A ", "dim"), escaped_line(found.ending.a)))
        console.print(Text.assemble(("        ", "dim"), ("B ", "dim"), escaped_line(found.ending.b)))
    else:
        console.print(Text.assemble(("ending  ", "dim"), ("both ", "dim"), escaped_line(found.a.ended)))
    is_good = found.is_same and not found.neither_is_done
    console.print(Text(summary(found), style="green" if is_good else "yellow"))


def describe_parting(pair: StepPair) -> str:
    """Where two runs part, and what each of them did there."""
    mine, theirs = map(escaped_line, pair.words)
    if pair.b is None:
        return f"They part at step {pair.a} of A, which B does not have: {mine}"
    if pair.a is None:
        return f"They part at step {pair.b} of B, which A does not have: {theirs}"
    where = f"step {pair.a}" if pair.a == pair.b else f"step {pair.a} of A, step {pair.b} of B"
    differs = next(each for each in pair.differences if each.where in ("decision", "outcome"))
    where += f", {mine}" * (differs.where == "outcome")
    return f"They part at {where}. A: {escaped_line(differs.a)}. B: {escaped_line(differs.b)}"


def summary(found: Diff) -> str:
    """How many steps differ, and in what."""
    differ = sum(not pair.is_same for pair in found.pairs)
    if found.is_same:
        same = f"No difference in {counted(len(found.pairs), 'step')}"
        return f"{same}, but neither run did its task" if found.neither_is_done else same
    parts = [f"{many} {where if where.startswith('only') else f'in {where}'}" for where, many in found.counts.items()]
    parts += ["the endings"] * (found.ending is not None)
    return f"{differ} of {len(found.pairs)} steps differ: {', '.join(parts)}"


def _sign(pair: StepPair) -> tuple[str, str]:
    if pair.a is None or pair.b is None:
        return ("-", "red") if pair.b is None else ("+", "green")
    return {"ok": ("=", "dim"), "warned": ("≠", "yellow"), "failed": ("≠", "red")}[pair.state]


def _lines(pair: StepPair) -> list[Text]:
    lines = []
    for each in pair.differences:
        if each.where == "pixels" and pair.pixels is not None:
            lines.append(Text.assemble((f"{each.where:9}", "dim"), pair.pixels.sentence))
            continue
        lines.append(Text.assemble((f"{each.where:9}", "dim"), ("A ", "dim"), escaped_line(each.a) or "none"))
        lines.append(Text.assemble((" " * 9, "dim"), ("B ", "dim"), escaped_line(each.b) or "none"))
    return lines
