"""What may be set in a recorded run, and what becomes of it: no browser is needed to tell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.record.record_builder import done, mark, observation, step_events, task, write_run
from tests.record.record_builder import run as run_of
from vision_agent.actions import Action, Click, Finish, Goto, Select, Type, Upload, Wait
from vision_agent.cli.main import app
from vision_agent.errors import ModelUnavailable, UsageError
from vision_agent.events import Ended, Started
from vision_agent.geometry import Box, Size
from vision_agent.observation import Mark
from vision_agent.policy.rebind import RebindError, rebind_mark
from vision_agent.record import read
from vision_agent.replay import Replay, variables_of
from vision_agent.replay.recorded_settings import recorded_settings
from vision_agent.replay.variables import set_variables, variables
from vision_agent.settings import ApprovalSettings, Settings
from vision_agent.types import Ending, Provenance, Run

FACTS = {"city": "Rome", "guests": "2", "rooms": "2"}


SEEN = observation("o1", (mark(1, "Where", kind="field"), mark(2, "Board", kind="field")))


def a_run(runs: Path, *steps: tuple[Action, ...], **facts: str) -> Path:
    """A run that did these actions, one step after the other."""
    about = run_of(
        task=task(goal="A room in Rome, not in Romeo", instructions="Near the centre of Rome", user_data=facts or FACTS)
    )
    events = [
        event
        for i, acts in enumerate(steps, 1)
        for event in step_events(i, *((each, done()) for each in acts), seen=SEEN)
    ]
    return write_run(runs, [Started(run=about), *events, Ended(ending=Ending(status="done", sentence="Done."))]).path


def actions(run: Run, **values: str) -> list[Action]:
    _, steps = set_variables(values, run.task, run.steps)
    return [action for step in steps for action in step.decision.actions]


def test_a_fact_is_replaced_wherever_it_stands_as_whole_words(tmp_path: Path) -> None:
    typed = (Type(target=1, text="Hotel, Rome"), Wait(text="Rome", seconds=3)), (Select(target=2, options=("Romeo",)),)
    run = read(a_run(tmp_path, *typed))
    assert actions(run, city="Oslo") == [
        Type(target=1, text="Hotel, Oslo"), Wait(text="Oslo", seconds=3), Select(target=2, options=("Romeo",)),
    ]  # fmt: skip
    changed, _ = set_variables({"city": "Oslo"}, run.task, run.steps)
    assert (changed.goal, changed.instructions) == ("A room in Oslo, not in Romeo", "Near the centre of Oslo")


def test_the_name_of_a_secret_is_none_of_what_was_typed(tmp_path: Path) -> None:
    run = read(a_run(tmp_path, (Type(target=1, text="Rome <secret:Rome>"),)))
    assert actions(run, city="Oslo") == [Type(target=1, text="Oslo <secret:Rome>")]


def test_a_text_is_named_by_its_step_and_by_its_action_where_a_step_has_several(tmp_path: Path) -> None:
    folder = a_run(
        tmp_path,
        (Type(target=1, text="Rome"),),
        (Finish(), Type(target=1, text="Rome"), Select(target=2, options=("Half", "Full"))),
        (Type(target=1, text="<secret:pin>"),),
    )
    assert [(each.name, each.value) for each in variables_of(folder)[3:]] == [
        ("1", "Rome"), ("2.2", "Rome"), ("2.3", "Half|Full"),
    ]  # fmt: skip
    run = read(folder)
    # What is set by its step is not what a fact says.
    changed = actions(run, **{"city": "Oslo", "2.2": "Rome again", "2.3": "None|Full"})
    assert changed[0] == Type(target=1, text="Oslo")
    assert changed[2:4] == [Type(target=1, text="Rome again"), Select(target=2, options=("None", "Full"))]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"town": "Oslo"}, r"no variable 'town' in this run \(there are: city, guests, rooms, 1, 2\)"),
        ({"guests": "3"}, "guests was '2', and so was rooms: it is unclear which of them was typed"),
        ({"3": "a"}, "no variable '3'"),
    ],
)
def test_what_cannot_be_set_is_named_with_what_can(values: dict[str, str], why: str, tmp_path: Path) -> None:
    run = read(a_run(tmp_path, (Type(target=1, text="Rome"),), (Type(target=2, text="2"),)))
    with pytest.raises(UsageError) as caught:
        set_variables(values, run.task, run.steps)
    assert re.search(why, str(caught.value))


def pressed(runs: Path, *pressed: Mark, action: Action | None = None, **facts: str) -> Run:
    """A run that typed `mug`, and then pressed the first of the marks."""
    seen = observation("o1", (mark(1, "Search", kind="field"), *pressed))
    about = run_of(task=task(goal="Order one mug", user_data=facts or {"product": "mug"}))
    acts = Type(target=1, text="mug"), action or Click(target=2)
    events = [event for i, act in enumerate(acts, 1) for event in step_events(i, (act, done()), seen=seen)]
    events += step_events(3, (Finish(answer="It costs $10"), done()), seen=seen)
    return read(
        write_run(runs, [Started(run=about), *events, Ended(ending=Ending(status="done", sentence="Done."))]).path
    )


def test_a_mark_whose_name_has_a_fact_has_the_new_one_and_is_found_by_its_words_alone(tmp_path: Path) -> None:
    run = pressed(tmp_path, mark(2, "Add Mug to cart", heading="Mugs and more"), mark(3, "Add hat to cart"))
    step = set_variables({"product": "Hat"}, run.task, run.steps)[1][1]
    old, other = step.observation.mark(2), step.observation.mark(3)
    assert old is not None
    assert other is not None
    assert (old.name, old.heading, other.name) == ("Add Hat to cart", "Mugs and more", "Add hat to cart")
    now = observation(
        "o2", (mark(7, "Add mug to cart", fingerprint="f7"), mark(8, "Add Hat to cart", fingerprint="f8"))
    )
    assert rebind_mark(2, step.observation, now.model_copy(update={"marks": tuple(
        each.model_copy(update={"heading": "Mugs and more"}) for each in now.marks)})).number == 8  # fmt: skip
    with pytest.raises(RebindError, match='no button "Add Hat to cart" here'):
        rebind_mark(2, step.observation, now)  # under another heading
    beside = [each.model_copy(update={"heading": "Mugs and more", "context": "New, $12"}) for each in now.marks]
    assert rebind_mark(2, step.observation, now.model_copy(update={"marks": tuple(beside)})).number == 8
    beside.append(beside[1].model_copy(update={"number": 9, "context": "$13"}))
    with pytest.raises(RebindError, match="there are 2 like"):
        rebind_mark(2, step.observation, now.model_copy(update={"marks": tuple(beside)}))
    twice = now.marks[1].model_copy(update={"heading": "Mugs and more"})
    again = twice.model_copy(update={"number": 9})
    with pytest.raises(RebindError, match="there are 2 like"):
        rebind_mark(2, step.observation, now.model_copy(update={"marks": (twice, again)}))


def test_a_product_of_the_record_is_found_by_its_name_whatever_stands_beside_it(tmp_path: Path) -> None:
    rows = (("Add Enamel mug to cart", "blue €14"), ("Add Tea pot to cart", "red €32"))
    marks = [mark(number, name, context=beside) for number, (name, beside) in enumerate(rows, 2)]
    run = pressed(tmp_path, *marks, product="Enamel mug")
    step = set_variables({"product": "Tea pot"}, run.task, run.steps)[1][1]
    now = observation("o2", tuple(each.model_copy(update={"number": each.number + 5}) for each in marks))
    assert rebind_mark(2, step.observation, now).number == 8


def test_where_more_than_the_fact_differs_beside_a_mark_what_is_missing_is_named_with_the_way_out(
    tmp_path: Path,
) -> None:
    run = pressed(tmp_path, mark(2, "Add to cart", context="Mug Ceramic, blue"))
    step = set_variables({"product": "Hat"}, run.task, run.steps)[1][1]
    now = observation("o2", (mark(7, "Add to cart", context="Hat Wool, red", fingerprint="f7"),))
    with pytest.raises(RebindError, match=r"'Hat Ceramic, blue' should stand beside it.*with a model or step lines"):
        rebind_mark(2, step.observation, now)


def test_a_fact_that_only_the_name_of_a_used_mark_has_counts_as_used(tmp_path: Path) -> None:
    run = pressed(tmp_path, mark(2, "Add to cart", context="Mug Ceramic, blue"))
    assert variables(run.task, run.steps)[0].what == "a fact of the run, used 2 times"
    assert variables(run.task, run.steps[1:])[0].what == "a fact of the run, used once"


@pytest.mark.parametrize(
    ("names", "facts", "values", "why"),
    [
        (["Buy 2"], {"product": "mug", "amount": "2"}, {"amount": "3"}, "amount was '2': that is too short"),
        (["Buy mug"], {"product": "mug"}, {"1": "hat"}, "product was the same, so it is unclear"),
        (["Buy blue mug"], {"product": "mug", "like": "blue mug"}, {"product": "hat"}, "like was 'blue mug'"),
    ],
    ids=["short", "equal", "within-another"],
)
def test_a_name_of_which_it_is_not_certain_that_it_means_the_fact_ends_it_before_it_begins(
    names: list[str], facts: dict[str, str], values: dict[str, str], why: str, tmp_path: Path
) -> None:
    run = pressed(tmp_path, *(mark(number, name) for number, name in enumerate(names, 2)), **facts)
    with pytest.raises(UsageError) as caught:
        set_variables(values, run.task, run.steps)
    assert f"In step 2, button {names[0]!r} was used" in str(caught.value)
    assert why in str(caught.value)


def test_what_is_drawn_and_addresses_are_not_taken_for_the_new_value(tmp_path: Path) -> None:
    drawn = pressed(tmp_path / "drawn", mark(2, "mug", source="ocr", fingerprint=""))
    with pytest.raises(UsageError, match="found again only by its picture"):
        set_variables({"product": "hat"}, drawn.task, drawn.steps)
    opened = pressed(tmp_path / "opened", action=Goto(url="http://shop.test/buy/Mug?n=1"))
    with pytest.raises(UsageError, match=r"Step 2 opened http://shop.test/buy/Mug\?n=1, and product was 'mug'"):
        set_variables({"product": "hat"}, opened.task, opened.steps)


Row = tuple[str, str]
"""The name of a product, which is a link, and the other words of its row; `[…]` in these is a link too."""


def shop(*rows: Row, first: int = 2, x: float = 40) -> tuple[Mark, ...]:
    """The marks of rows that each have a link and an `Add to cart`."""
    marks: list[Mark] = []
    for at, (name, words) in enumerate(rows):
        top, told = 100.0 + 40 * at, re.sub(r"[][]", "", words)
        link = {"kind": "link", "role": "link", "tag": "a", "heading": "Shop"}
        box = Box(x=x, y=top, width=8 * len(name), height=20)
        marks.append(mark(first + 2 * at, name, context=told, box=box, fingerprint=f"l{at}", **link))
        button = Box(x=x + 400, y=top, width=90, height=20)
        marks.append(
            mark(first + 2 * at + 1, context=f"{name} {told}", box=button, fingerprint=f"b{at}", heading="Shop")
        )
        if inner := re.search(r"\[(.+)\]", words):
            rest = f"{name} {words.replace(inner[0], '').strip()}"
            below = Box(x=x, y=top + 15, width=60, height=14)
            marks.append(mark(90 + at, inner[1], context=rest, box=below, fingerprint=f"i{at}", **link))
    return tuple(marks)


SHOP: tuple[Row, ...] = (("Enamel mug", "In stock"), ("Tea pot", "Only a few left"), ("Scarf", "New"))


def row_of_tea_pot(runs: Path, now: tuple[Mark, ...], product: str = "Tea pot") -> Mark:
    """The button that a replay with a tea pot presses, of a run that added a mug."""
    run = pressed(runs, *shop(*SHOP), action=Click(target=3), product="Enamel mug")
    step = set_variables({"product": product}, run.task, run.steps)[1][1]
    return rebind_mark(3, step.observation, observation("o2", now))


@pytest.mark.parametrize("product", ["Tea pot", "tea pot"])
def test_a_row_is_found_by_the_product_with_whose_name_it_begins_whatever_else_is_in_it(
    product: str, tmp_path: Path
) -> None:
    found = row_of_tea_pot(tmp_path / "same", shop(*SHOP, first=50), product)
    assert (found.name, found.context) == ("Add to cart", "Tea pot Only a few left")
    moved = shop(("Scarf", "New"), ("Tea pot", "Sold out soon, 4 stars"), first=50)
    assert row_of_tea_pot(tmp_path / "moved", moved, product).context == "Tea pot Sold out soon, 4 stars"


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([("Tea pot", "In two colours"), ("Tea pot XL", "In two colours")], "'Tea pot' is in 2 rows"),
        ([("Tea pot", "Red"), ("Tea pot", "Blue")], "'Tea pot' is in 2 rows"),
        ([("Tea pot", "Red"), ("Cup", "Goes with the Tea pot")], "'Tea pot' is in 2 rows"),
        ([("Tea pot XL", "In two colours"), ("Scarf", "New")], "there is no button"),
        ([("Cup", "Goes with the Tea pot"), ("Scarf", "New")], "there is no button"),
        ([("Cup", "Goes with the [Tea pot]"), ("Scarf", "New")], "there is no button"),
        ([("Scarf", "New")], "there is no button"),
    ],
    ids=["longer", "twice", "mentioned too", "only longer", "only mentioned", "only linked", "gone"],
)
def test_a_row_that_may_be_of_another_product_is_not_taken_for_it(rows: list[Row], why: str, tmp_path: Path) -> None:
    with pytest.raises(RebindError, match=why):
        row_of_tea_pot(tmp_path, shop(*rows, first=50))


def test_the_name_of_a_product_elsewhere_on_the_page_makes_no_row_that_of_it(tmp_path: Path) -> None:
    aside = shop(("Tea pot", "Seen lately"), first=70, x=900)[0]
    with pytest.raises(RebindError, match="there is no button"):
        row_of_tea_pot(tmp_path / "aside", (*shop(("Tea pot Seen", "lately"), first=50), aside))
    above = aside.model_copy(update={"box": Box(x=40, y=20, width=56, height=20)})
    for at, rows in enumerate(([("Scarf", "New"), ("Tea pot Seen", "lately")], [("Tea pot Seen", "lately")])):
        with pytest.raises(RebindError, match="there is no button"):
            row_of_tea_pot(tmp_path / f"above{at}", (above, *shop(*rows, first=50)))


def test_an_answer_that_says_more_than_the_task_is_not_given_for_another_value(tmp_path: Path) -> None:
    run = pressed(tmp_path, mark(2, "Buy"))
    said = [set_variables(each, run.task, run.steps)[1][2].decision.actions for each in ({}, {"product": "hat"})]
    assert said == [(Finish(answer="It costs $10"),), (Finish(answer=""),)]
    told = Finish(answer="Order one mug")
    steps = (
        *run.steps[:2],
        run.steps[2].model_copy(update={"decision": run.steps[2].decision.model_copy(update={"actions": (told,)})}),
    )
    assert set_variables({"product": "hat"}, run.task, steps)[1][2].decision.actions == (
        Finish(answer="Order one hat"),
    )


def test_a_fact_that_was_typed_otherwise_is_not_taken_for_done(tmp_path: Path) -> None:
    run = read(a_run(tmp_path, (Type(target=1, text="01/02/2026"),), day="2026-02-01"))
    with pytest.raises(UsageError, match="no step typed exactly that"):
        set_variables({"day": "2026-02-02"}, run.task, run.steps)


def test_addresses_of_the_host_it_began_on_move_with_the_start_and_no_others(tmp_path: Path) -> None:
    opened = (Goto(url="http://shop.test/cart?a=1"), Goto(url="http://shop.test.evil/"), Goto(url="http://pay.test/"))
    replay = Replay(a_run(tmp_path, opened), url="http://stage.test:8080/")
    assert replay.agent.task.start_url == "http://stage.test:8080/"
    again = [action.url for step in replay.steps for action in step.decision.actions if isinstance(action, Goto)]
    assert again == ["http://stage.test:8080/cart?a=1", "http://shop.test.evil/", "http://pay.test/"]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--set", "town=Oslo"], "There is no variable 'town'"),
        (
            ["--set", "2=Oslo"],
            "'2' in this run: step 2 clicks 'Board', and types nothing (there are: city, guests, rooms, 1; to click "
            "another, record the run with --data NAME='Board' and give --set NAME=…)",
        ),
        (
            ["--heal", "--model", "steps"],
            "Step lines cannot heal a replay (name a model, or heal without a key: --model human",
        ),
        (["--patch", __file__], "test_variables.py is not a patch (name the patch.json of a healed replay)"),
        (["--set", "town"], "--set 'town' is not of the form name=value"),
        (["--model", "anthropic:claude-sonnet-5-5"], "add --heal"),
        (["--patch", "no-such-file"], "The patch no-such-file cannot be read"),
        (["--secret", "pin=HOME"], "The run has no secret 'pin'"),
        (["--url", "http://[x"], "'http://[x' is not an address that can be opened"),
        (["--secret", "pin"], "--secret 'pin' is not of the form name=VARIABLE (VARIABLE is the name of an env"),
        (["--code", "pin=HOME"], "The run has no secret 'pin'"),
        (["--private", "pin=HOME"], "The run has no secret 'pin'"),
        (["--file", __file__], "The run was not given a file test_variables.py"),
    ],
)
def test_a_replay_that_makes_no_sense_is_a_usage_error_with_a_sentence(
    more: list[str], sentence: str, tmp_path: Path
) -> None:
    folder = a_run(tmp_path, (Type(target=1, text="Rome"),), (Click(target=2),))
    with pytest.raises(UsageError) as caught:
        app(["replay", str(folder), *more], standalone_mode=False)
    assert sentence in str(caught.value)


def test_a_healer_without_a_key_is_told_with_what_heals_a_replay_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    folder = a_run(tmp_path, (Type(target=1, text="Rome"),))
    with pytest.raises(ModelUnavailable) as caught:
        app(["replay", str(folder), "--heal", "--model", "openai:gpt-5"], standalone_mode=False)
    advice = "set it, or heal without a key: --model human, or --model module:Class of your own"
    assert str(caught.value).endswith(advice)


async def test_a_healer_without_a_key_is_told_to_python_in_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    folder = a_run(tmp_path, (Type(target=1, text="Rome"),))
    with pytest.raises(ModelUnavailable, match='set it, or heal without a key: heal="human", or a decider of your own'):
        await Replay(folder, heal="openai:gpt-5", settings=Settings(runs=tmp_path)).run()


def test_secrets_are_asked_for_with_the_options_that_gave_them_to_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = {"name": "pin"}, {"name": "otp", "is_code": True}, {"name": "mail", "is_private": True}
    about = run_of(task=task(secrets=[{"value": "", **kind} for kind in kinds]), provenance=Provenance(model="human"))
    typed = [(Type(target=1, text=f"<secret:{kind['name']}>"), done()) for kind in kinds]
    seen = observation("o1", (mark(1, "Where", kind="field"),))
    folder = write_run(tmp_path, [Started(run=about), *step_events(1, *typed, seen=seen)]).path
    monkeypatch.setenv("KEY", "otpauth://totp/Shop:ann?secret=JBSWY3DPEHPK3PXP")
    for command in ("replay", "resume"):
        with pytest.raises(UsageError, match=r"secret pin.* \(--secret pin=VARIABLE --private mail=VARIABLE\)"):
            app([command, str(folder), "--code", "otp=KEY"], standalone_mode=False)
        with pytest.raises(UsageError, match=r"secret otp.* \(--code otp=VARIABLE\)"):
            app([command, str(folder), "--secret", "pin=HOME", "--private=mail=HOME"], standalone_mode=False)


def test_a_secret_given_as_another_kind_than_the_record_has_is_told_with_the_right_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = {"name": "pin"}, {"name": "otp", "is_code": True}, {"name": "mail", "is_private": True}
    about = run_of(task=task(secrets=[{"value": "", **kind} for kind in kinds]), provenance=Provenance(model="human"))
    folder = write_run(tmp_path, [Started(run=about)]).path
    monkeypatch.setenv("KEY", "otpauth://totp/Shop:ann?secret=JBSWY3DPEHPK3PXP")
    monkeypatch.setenv("PIN", "4711")
    ordinary = r"but the run knows it as an ordinary secret \(give the value itself: --secret pin=VARIABLE\)"
    wrong = {
        "--code pin=PIN": rf"The secret pin was given with --code.* {ordinary}",
        "--code pin=KEY": rf"The secret pin was given with --code.* {ordinary}",
        "--secret pin=KEY": rf"The secret pin is to be read from KEY, which holds the key.* {ordinary}",
        "--code mail=PIN": r"as private data \(give the value itself: --private mail=VARIABLE\)",
        "--secret otp=KEY": r"KEY holds the key of one-time codes.*give it with --code otp=KEY\)",
    }
    for command in ("replay", "resume"):
        for options, sentence in wrong.items():
            with pytest.raises(UsageError, match=sentence):
                app([command, str(folder), *options.split()], standalone_mode=False)


def test_a_patch_of_another_run_or_one_that_is_damaged_is_not_used(tmp_path: Path) -> None:
    folder = a_run(tmp_path / "runs", (Type(target=1, text="Rome"),))
    run = read(folder)
    repair = {"step": 1, "why": "gone", "decided_by": [], "was": run.steps[0].model_dump(mode="json")}
    patch = {"run": "another", "head": "0", "healed_in": "r2", "repairs": [repair]}
    file = tmp_path / "patch.json"
    for content, why in ((patch, "repairs the run another"), ({**patch, "repairs": []}, "repairs: Tuple should have")):
        file.write_text(json.dumps(content), "utf-8")
        with pytest.raises(UsageError, match=why):
            Replay(folder, patch=file)


def test_what_may_be_set_is_shown_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = a_run(tmp_path, (Type(target=1, text="Rome"),))
    app(["replay", str(folder), "--variables", "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)[-1] == {"name": "1", "value": "Rome", "what": "typed into 'Where'"}


def test_what_is_asked_about_is_as_in_the_record_but_for_what_is_said_now(tmp_path: Path) -> None:
    run = read(a_run(tmp_path, (Type(target=1, text="Rome"),)))
    recorded = {"approval": {"ask": "always", "hosts": ["pay.test"]}}
    run = run.model_copy(update={"provenance": run.provenance.model_copy(update={"settings": recorded})})
    as_then = recorded_settings(run, Settings(), ()).approval
    assert (as_then.ask, as_then.hosts) == ("always", ())
    now = recorded_settings(run, Settings(approval=ApprovalSettings(ask="risky")), ()).approval
    assert (now.ask, now.hosts) == ("risky", ())


def test_a_replay_has_the_view_that_was_seen_also_where_the_window_was_not_the_runs_own(tmp_path: Path) -> None:
    run = read(a_run(tmp_path, (Type(target=1, text="Rome"),)))
    step = run.steps[0]
    seen = step.observation.model_copy(update={"viewport": Size(width=800, height=600), "device_ratio": 2.0})
    run = run.model_copy(update={"steps": (step.model_copy(update={"observation": seen}),)})
    then = recorded_settings(run, Settings(), ()).browser
    assert (then.viewport, then.device_ratio) == (Size(width=800, height=600), 2.0)
    assert recorded_settings(run, Settings(), ("viewport",)).browser.viewport == Settings().browser.viewport


@pytest.mark.parametrize("author", ["human", "steps"])
def test_files_that_a_person_gave_by_hand_are_given_again_to_a_replay(tmp_path: Path, author: str) -> None:
    upload = step_events(1, (Upload(mark=1, files=("cv.pdf",)), done()), seen=SEEN, author=author)
    ended = Ended(ending=Ending(status="done", sentence="Done."))
    folder = write_run(tmp_path, [Started(run=run_of()), *upload, ended]).path
    (tmp_path / "cv.pdf").write_text("x")
    if author == "steps":  # it was refused then, and is none of the run's
        with pytest.raises(UsageError, match=r"The run was not given a file cv\.pdf"):
            Replay(folder, files=[tmp_path / "cv.pdf"])
        return
    with pytest.raises(UsageError, match=r"The run uploaded cv\.pdf, and a record gives no access to files"):
        Replay(folder)
    assert Replay(folder, files=[tmp_path / "cv.pdf"]).agent.task.files == (tmp_path / "cv.pdf",)


def test_values_of_megabytes_are_shown_cut_and_facts_of_that_length_are_whole_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "word " * 1_000_000
    folder = a_run(tmp_path, (Type(target=1, text=long),), (Type(target=1, text=f"{long}."),), note=long)
    assert variables_of(folder)[0].what == "a fact of the run, used once"
    assert actions(read(folder), note="new") == [Type(target=1, text="new"), Type(target=1, text=f"{long}.")]
    with pytest.raises(SystemExit):
        app(["replay", str(folder), "--variables"])
    assert len(capsys.readouterr().out) < 5_000
