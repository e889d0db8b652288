"""Learning from a run folder: what is taken, what is left out, and which runs are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from exemplar_builder import LEARNED, learn
from pydantic import SecretStr
from record_builder import (
    decision,
    done,
    mark,
    observation,
    repeated_story,
    run,
    small_run,
    step_events,
    task,
    write_run,
)

from vision_agent.actions import Check, Click, Custom, Drag, Finish, Goto, Point, Type
from vision_agent.browser.observe.listing import listing
from vision_agent.errors import UsageError
from vision_agent.events import Decided, Ended, Event, Started
from vision_agent.geometry import Box, PageMap, ScrollState, Size
from vision_agent.memory.page_features import without_values
from vision_agent.record import Redactor, RunFolder
from vision_agent.text.urls import host_of
from vision_agent.types import Ending, Outcome, Secret
from vision_agent.vision.picture import Picture


def ended(*steps: Event, status: str = "done") -> list[Event]:
    ending = Ending.model_validate({"status": status, "sentence": "That was it."})
    return [Started(run=run()), *steps, Ended(ending=ending)]


def test_a_run_that_did_what_was_wanted_becomes_an_exemplar(tmp_path: Path) -> None:
    folder = write_run(tmp_path, repeated_story())
    learned = learn(folder.path, head=folder.head, now=LEARNED)
    assert (learned.id, learned.run, learned.head) == (run().id, run().id, folder.head)
    assert (learned.goal, learned.site) == ("Put the large wool jumper into the cart", "shop.test")
    assert learned.learned_at == LEARNED
    first, *_ = learned.turns
    assert first.kinds == {"button": 1, "field": 2, "link": 1, "toggle": 1}
    assert (first.memory, first.next_goal) == ("The shop has a search field at the top.", "Find the wool jumper")


def test_steps_and_actions_that_came_to_nothing_are_left_out(tmp_path: Path) -> None:
    learned = learn(write_run(tmp_path, repeated_story()).path)
    kinds = [[act.action["kind"] for act in turn.acts] for turn in learned.turns]
    assert kinds == [["type"], ["select"], ["finish"]]  # a covered click, what came after it, and a click on nothing


def test_a_thing_is_said_by_its_line_and_never_by_its_number(tmp_path: Path) -> None:
    click = (
        Click(target=5),
        done('Clicked mark 5 (button "Add to cart"). Mark B5 is gone; mark 4 is at the point (1.5, 2).'),
    )
    learned = learn(write_run(tmp_path, ended(*step_events(1, click))).path)
    (act,) = learned.turns[0].acts
    assert act.action == {"kind": "click", "target": "<button>Add to cart"}
    assert act.outcome == 'changed: Clicked button "Add to cart". A mark is gone; a mark is at a point.'


def test_of_several_that_are_called_the_same_the_one_that_was_meant_is_told(tmp_path: Path) -> None:
    boxes = [Box(x=300, y=40 * n, width=60, height=20) for n in (1, 2, 3, 4)]
    dishes = zip(("Bread", "Soup", "Fish", "Salt"), boxes, strict=True)
    marks = tuple(mark(n, "Order", context=dish, box=box) for n, (dish, box) in enumerate(dishes, 1))
    for listed in (
        listing(marks, [], ScrollState(), [], PageMap()),
        "",
    ):  # also where its line was cut from the listing
        seen = observation(marks=marks, listing=listed)
        acts = step_events(1, (Click(target=3), done()), seen=seen, next_goal="Order the fish")
        learned = learn(write_run(tmp_path / str(len(listed)), ended(*acts)).path)
        assert learned.turns[0].acts[0].action["target"] == "<button>Order ‹Fish›"
        assert "<button>Order ‹Fish›" in learned.turns[0].lines
        assert len({*learned.turns[0].lines}) == 3


def test_what_a_line_says_of_the_moment_is_left_out(tmp_path: Path) -> None:
    seen = observation(listing='5[:]<button value="a *new" required focused hovered *changed>Add *new')
    learned = learn(write_run(tmp_path, ended(*step_events(1, (Click(target=5), done()), seen=seen))).path)
    assert learned.turns[0].acts[0].action["target"] == '<button value="a *new" required>Add *new'


def test_a_letter_before_a_number_is_no_part_of_the_line(tmp_path: Path) -> None:
    seen = observation(listing="I1[:]<input>Search\nB5[:]<button>Add to cart\n_[:]B5")
    learned = learn(write_run(tmp_path, ended(*step_events(1, (Click(target=5), done()), seen=seen))).path)
    assert learned.turns[0].acts[0].action["target"] == "<button>Add to cart"


def test_a_place_is_said_by_its_share_of_the_picture(tmp_path: Path) -> None:
    drag = Drag(source=Point(x=320, y=100), target=4, path=(Point(x=0, y=400),))
    learned = learn(write_run(tmp_path, ended(*step_events(1, (drag, done())))).path)
    assert learned.turns[0].acts[0].action == {
        "kind": "drag",
        "source": "the point 50% across and 25% down the picture",
        "target": "<input>Gift wrap",
        "path": ["the point 0% across and 100% down the picture"],
    }


def test_only_what_was_set_of_an_action_is_kept(tmp_path: Path) -> None:
    acts = (Check(mark=4, checked=False), done()), (Custom(name="book", arguments={"seat": 3}), done())
    learned = learn(write_run(tmp_path, ended(*step_events(1, *acts))).path)
    assert [act.action for act in learned.turns[0].acts] == [
        {"kind": "check", "mark": "<input>Gift wrap", "checked": False},
        {"kind": "custom", "name": "book", "arguments": {"seat": 3}},
    ]


def test_three_lines_are_kept_what_was_acted_on_among_them(tmp_path: Path) -> None:
    learned = learn(write_run(tmp_path, ended(*step_events(1, (Check(mark=4, checked=True), done())))).path)
    assert learned.turns[0].lines == ("<a>Cart (0)", "<input>Gift wrap", "<button>Add to cart")


def test_pictures_are_small_and_come_with_their_bytes(tmp_path: Path) -> None:
    seen = observation(scale=2)
    learned = learn(write_run(tmp_path, ended(*step_events(1, (Click(target=5), done()), seen=seen))).path)
    picture = learned.turns[0].picture
    assert picture is not None
    assert picture.media_type == "image/jpeg"
    assert picture.size == Picture.of(picture).size == Size(width=480, height=300)
    assert picture.page == seen.clean.page


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://a.test/b/c", "https://a.test/b/c"),
        ("https://a.test/?token=t0ps3cret&flag&x=", "https://a.test/?token=…&flag&x=…"),
        ("https://ann:t0ps3cret@a.test:8443/x#access_token=t0ps3cret", "https://a.test:8443/x#…"),
        ("data:text/html,t0ps3cret", "data:…"),
        ("http://[t0ps3cret", "…"),
        ("", ""),
    ],
)
def test_what_an_address_says_after_its_path_is_not_kept(url: str, kept: str) -> None:
    assert without_values(url) == kept


def test_addresses_in_actions_and_outcomes_are_cut_too(tmp_path: Path) -> None:
    goto = Goto(url="http://shop.test/?q=t0ps3cret"), done("Opened http://shop.test/?q=t0ps3cret.", effect="navigated")
    seen = observation(url="http://shop.test/?q=t0ps3cret", tabs=())
    learned = learn(write_run(tmp_path, ended(*step_events(1, goto, seen=seen))).path)
    assert "t0ps3cret" not in learned.model_dump_json()


@pytest.mark.parametrize(
    ("url", "host"),
    [("http://Shop.Test:8000/x", "shop.test"), ("about:blank", ""), ("http://[", ""), ("file:///tmp/x", "")],
)
def test_a_site_is_a_host_without_its_port(url: str, host: str) -> None:
    assert host_of(url) == host


def test_no_secret_gets_in(tmp_path: Path) -> None:
    value = "pass word/ä+1"
    secret = Secret(name="pin", value=SecretStr(value))
    seen = observation(title=f"Hello {value}", listing=f"5[:]<button>Add {value} to cart", url=f"http://a.test/{value}")
    acts = (
        (Type(target=5, text=value), done(f"Typed {value}.")),
        (Goto(url="http://a.test/pass%20word%2F%C3%A4%2B1"), done(f"Opened {value}")),
    )
    goal = f"Log in with {value}"
    events = [
        Started(run=run(task=task(goal=goal))),
        *step_events(1, *acts, seen=seen, memory=value, next_goal=value),
        Ended(ending=Ending(status="done", sentence=value, answer=value)),
    ]
    written = learn(write_run(tmp_path, events, (secret,)).path).model_dump_json()
    for form in (value, "pass word", "pass%20word", "word/", "%C3%A4%2B1"):
        assert form not in written
    assert written.count("<secret:pin>") >= 6


def test_of_what_is_known_of_the_person_only_the_names_stay(tmp_path: Path) -> None:
    facts = {"name": "Ada Lovelace", "first": "Ada"}
    acts = (Type(target=1, text="Ada Lovelace"), done('Typed "Ada Lovelace" into mark 1 (searchbox "Search").'))
    begun = Started(run=run(task=task(goal="Send it to Ada Lovelace, dear Ada", user_data=facts)))
    events = [begun, *ended(*step_events(1, acts, memory="It is for Ada Lovelace."))[1:]]
    learned = learn(write_run(tmp_path, events).path)
    assert learned.goal == "Send it to <name>, dear <first>"
    assert "Ada" not in learned.model_dump_json()
    picture = learned.turns[0].picture
    assert picture is not None
    assert picture.data


def test_what_was_typed_because_of_the_instructions_does_not_stay(tmp_path: Path) -> None:
    typed = (Type(target=1, text="Elm Street 5, Bern"), done('Typed "Elm Street 5, Bern" into mark 1 (field "To").'))
    asked = (Type(target=1, text="wool"), done('Typed "wool" into mark 1 (field "Search").'))
    about = task(goal="Find wool", instructions="Send it to Elm Street 5, Bern. Only wool of sheep.")
    acts = step_events(1, typed, asked, memory="It goes to Elm Street 5, Bern.")
    learned = learn(write_run(tmp_path, [Started(run=run(task=about)), *ended(*acts)[1:]]).path)
    kept = learned.model_dump_json()
    assert "Elm Street" not in kept
    assert "sheep" not in kept
    assert learned.turns[0].memory == "It goes to <from the instructions>."
    assert [act.action["text"] for act in learned.turns[0].acts] == ["<from the instructions>", "wool"]


@pytest.mark.parametrize("status", ["not_done", "infeasible", "limit", "interrupted", "needs_person", "error"])
def test_a_run_that_did_not_end_done_is_refused(status: str, tmp_path: Path) -> None:
    folder = write_run(tmp_path, ended(*step_events(1, (Click(target=5), done())), status=status)).path
    with pytest.raises(UsageError, match=f"it ended {status}: That was it"):
        learn(folder)


def test_a_run_without_an_ending_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path, small_run()[:-1]).path
    with pytest.raises(UsageError, match="it has no ending"):
        learn(folder)


@pytest.mark.parametrize(
    "steps",
    [
        [],
        step_events(1),
        step_events(1, (Click(target=5), Outcome(status="refused", refusal="gone", sentence="Gone."))),
        step_events(1, (Click(target=5), done(effect="no_effect"))),
    ],
)
def test_a_run_in_which_nothing_had_an_effect_is_refused(steps: list[Event], tmp_path: Path) -> None:
    folder = write_run(tmp_path, ended(*steps)).path
    with pytest.raises(UsageError, match="none of its steps had an effect"):
        learn(folder)


def test_a_run_with_an_action_without_an_outcome_is_refused(tmp_path: Path) -> None:
    steps = step_events(1, (Click(target=5), done()))
    steps[1] = Decided(step=1, decision=decision(Click(target=5), Finish()))
    with pytest.raises(UsageError, match="action 2 of step 1 was decided but has no outcome"):
        learn(write_run(tmp_path, ended(*steps)).path)


def test_a_record_that_was_changed_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path, small_run()).path
    lines = folder / "steps.jsonl"
    lines.write_bytes(lines.read_bytes().replace(b"Put it into the cart", b"Put it into the bin!", 1))
    with pytest.raises(UsageError, match=r"Line 3 was changed after it was written.*only runs that verify are learned"):
        learn(folder)


def test_a_changed_ending_is_refused_where_the_head_is_known(tmp_path: Path) -> None:
    folder = write_run(tmp_path, ended(*step_events(1, (Click(target=5), done())), status="limit"))
    lines = folder.path / "steps.jsonl"
    lines.write_bytes(lines.read_bytes().replace(b'"status":"limit"', b'"status":"done"'))
    with pytest.raises(UsageError, match="was changed after it was written"):
        learn(folder.path, head=folder.head)


def test_a_record_with_a_torn_line_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path, small_run()).path
    with (folder / "steps.jsonl").open("ab") as lines:
        lines.write(b'{"n": 13')
    with pytest.raises(UsageError, match="8 bytes of an unfinished line"):
        learn(folder)


def test_a_changed_picture_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path, small_run()).path
    for path in (folder / "shots").iterdir():
        path.write_bytes(path.read_bytes() + b"?")
    with pytest.raises(UsageError, match="was changed"):
        learn(folder)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"run\.json cannot be read.*is this a run folder"):
        learn(tmp_path)


def test_a_run_whose_id_could_name_another_folder_is_refused(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, "a", Redactor(())) as folder:
        for event in small_run(run_id="../a"):
            folder.write(event)
    with pytest.raises(UsageError, match=r"its id '\.\./a' cannot name a file"):
        learn(folder.path)
