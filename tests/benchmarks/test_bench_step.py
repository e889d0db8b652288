"""The benchmark of a step tells apart what it says it does."""

from __future__ import annotations

import asyncio
import json
import time

from bench_step import Spans, Threads, Watched, _joined, _shares, _within


def test_spans_are_cut_and_joined() -> None:
    assert _within([(0, 4), (6, 9)], [(3, 7), (8, 20)]) == [(3, 4), (6, 7), (8, 9)]
    assert _joined([(5, 6), (1, 3), (2, 4)]) == [(1, 4), (5, 6)]


def test_work_of_the_loop_and_of_threads_is_ours_and_waiting_is_the_pages() -> None:
    watched, threads, ends = Watched(), Threads(), []

    def work(seconds: float) -> None:
        until = time.thread_time() + seconds
        while time.thread_time() < until:
            json.dumps(list(range(100)))

    async def step() -> None:
        asyncio.get_running_loop().set_default_executor(threads)
        ends.append(watched.so_far())
        work(0.2)
        await asyncio.to_thread(work, 0.2)
        await asyncio.wait_for(asyncio.Event().wait(), 0.3)

    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(watched)) as runner:
        try:
            runner.run(step())
        except TimeoutError:
            ends.append(watched.so_far())
    nobody: Spans = []
    model, page, ours, taken = _shares(ends, watched, threads.works, nobody)
    assert model == 0
    assert page > 0.25
    assert 0.3 < ours < 0.4 + 1.0  # neither half alone
    assert model + page + ours + taken <= ends[1] - ends[0] + 0.01
