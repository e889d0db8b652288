"""The graph of page states: which edges there are, and that its lines stay apart."""

from __future__ import annotations

from vision_agent.record.state_graph import StateGraph, Visit, state_graph


def graph_of(*states: int) -> StateGraph:
    return state_graph([Visit(state, step, f"act {step}", "ok") for step, state in enumerate(states, 1)])


def test_steps_between_the_same_states_are_one_edge() -> None:
    graph = graph_of(1, 2, 1, 2, 2)
    assert [(edge.target, edge.steps, edge.labels) for edge in graph.nodes[0].edges] == [
        (2, [1, 3], ["act 1", "act 3"])
    ]
    assert [(edge.target, edge.steps) for edge in graph.nodes[1].edges] == [(1, [2]), (2, [4]), (None, [5])]


def test_an_edge_is_as_bad_as_the_worst_of_its_steps() -> None:
    visits = [Visit(1, 1, "a", "warned"), Visit(1, 2, "b", "failed"), Visit(1, 3, "c", "ok"), Visit(1, None, "", "ok")]
    assert [edge.tone for edge in state_graph(visits).nodes[0].edges] == ["failed"]


def test_the_look_after_the_last_step_is_a_state_without_an_edge_of_its_own() -> None:
    graph = state_graph([Visit(1, 1, "a", "ok"), Visit(2, None, "", "ok")])
    assert graph.nodes[1].looks == [None]
    assert graph.nodes[1].edges == []
    assert graph.nodes[0].edges[0].target == 2


def test_a_list_that_was_gone_back_to_a_hundred_times_takes_two_lanes() -> None:
    once, often = graph_of(1, 2, 1, 3), graph_of(*(state for each in range(2, 102) for state in (1, each)))
    assert len(often.nodes) == 101
    assert often.trunk <= once.trunk + 1.6


def test_a_run_without_a_look_has_no_graph() -> None:
    assert state_graph([]).nodes == ()
