"""`vision-agent run`: parses, calls, prints. No logic lives here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NoReturn

import typer

from vision_agent.cli.commands import Commands, option_groups
from vision_agent.cli.options import (
    AsJson,
    BaseUrl,
    BrowserOptions,
    LimitOptions,
    RunName,
    Runs,
    SuperviseOptions,
    Video,
    bound_to_origins,
    existing_files,
    files_in,
    given,
    hosts_of,
    load_settings,
    named_beginning,
    option,
    pairs_of,
    private_kinds_of,
    schema_in,
    secrets_of,
    terminal_approver,
    terminal_person,
    written,
)
from vision_agent.cli.rows import RowOptions, run_over
from vision_agent.cli.running import (
    GOAL_OF_LINES,
    attach_supervision_page,
    chosen_model,
    require_film,
    run_agent,
    step_lines_in,
    with_supervision,
)
from vision_agent.errors import UsageError
from vision_agent.models.providers import KNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vision_agent.batch import Row
    from vision_agent.batch.run_rows import RowPlan
    from vision_agent.settings import Settings
    from vision_agent.types import Limits, Task

app = Commands()


@dataclass(frozen=True)
class ModelOptions:
    """Which model decides, and how it is asked."""

    panel: ClassVar = "Who decides"

    model: Annotated[
        str | None,
        option(
            f"The model that decides: {', '.join(KNOWN)}, or module:Class of a decider of your own.", "--model", "MODEL"
        ),
    ] = None
    base_url: BaseUrl = None
    steps: Annotated[Path | None, option("Follow the step lines in this file, without a model.", "--steps", "FILE")] = (
        None
    )
    begin: Annotated[
        str | None,
        option(
            "First repeat the steps of an earlier run: its folder or latest, or FOLDER:3 for the first three.",
            "--begin",
            "RUN",
        ),
    ] = None
    judge: Annotated[
        str | None,
        option(
            "A model that judges at the end whether the task is done: <provider>:<model>, or same.", "--judge", "MODEL"
        ),
    ] = None
    dialect: Annotated[
        str | None,
        option("How the model is asked; browser is Claude's own browser toolset.", "--dialect", "marks|browser"),
    ] = None
    actions_per_step: Annotated[
        str | None, option("How many actions the model may choose per step.", "--actions-per-step", "one|several")
    ] = None
    history: Annotated[
        str | None,
        option(
            "How much the model is told about earlier steps; data is short plus the text that was read.",
            "--history",
            "short|data|full|compressed",
        ),
    ] = None
    ablate: Annotated[
        str | None,
        option(
            "Parts to leave out, to measure what they are worth: picture,marks,listing,memory,filter,history.",
            "--ablate",
            "PARTS",
        ),
    ] = None

    @property
    def settings(self) -> dict[str, Any]:
        """The given model settings."""
        return given(
            base_url=self.base_url,
            judge=self.judge,
            dialect=self.dialect,
            actions_per_step=self.actions_per_step,
            history=self.history,
            ablate=tuple(self.ablate.split(",")) if self.ablate else None,
        )


@dataclass(frozen=True)
class TaskOptions:
    """The parts of a task other than its goal."""

    panel: ClassVar = "Task"

    instructions: Annotated[
        str | None,
        option("How you want it done, beside the goal; the model reads it at each step.", "--instructions", "TEXT"),
    ] = None
    data: Annotated[list[str] | None, option("A fact the model may use: name=value.", "--data", "NAME=VALUE")] = None
    secret: Annotated[
        list[str] | None,
        option(
            "A value the model may use but never sees: name=VARIABLE, read from the environment.",
            "--secret",
            "NAME=VARIABLE",
        ),
    ] = None
    secret_field: Annotated[
        list[str] | None,
        option(
            "The types of fields that a secret may be typed into: name=text,email, or name=any. Default: a password "
            "only into password fields, other secrets into any.",
            "--secret-field",
            "NAME=TYPES",
        ),
    ] = None
    secret_origin: Annotated[
        list[str] | None,
        option(
            "Where a secret may be typed: name=https://shop.example, several separated by commas; nowhere else. "
            "Default: only on the origin (scheme, host and port) of the start page.",
            "--secret-origin",
            "NAME=ORIGINS",
        ),
    ] = None
    code: Annotated[
        list[str] | None,
        option(
            "A one-time code the model may type: name=VARIABLE, which holds the key that makes it.",
            "--code",
            "NAME=VARIABLE",
        ),
    ] = None
    private: Annotated[
        list[str] | None,
        option(
            "Private data that the model may read, but that pictures, record and report do not show: name=VARIABLE, "
            "read from the environment; or card, iban or national-id: all such numbers, wherever they appear.",
            "--private",
            "NAME=VARIABLE|KIND",
        ),
    ] = None
    expect: Annotated[
        list[str] | None,
        option(
            "A check that must hold at the end: a text that must show, or url=*/thanks, text=Order placed, "
            "mark=Log out, download=*.pdf.",
            "--expect",
            "CHECK",
        ),
    ] = None
    output_schema: Annotated[
        Path | None, option("A file with the JSON schema that the answer must match.", "--output-schema", "FILE")
    ] = None
    file: Annotated[
        list[Path] | None, option("A file that may be uploaded; no other file may be.", "--file", "FILE")
    ] = None
    upload_folder: Annotated[
        Path | None,
        option("A folder whose files may be uploaded, as it is when the run begins.", "--upload-folder", "FOLDER"),
    ] = None
    allow_actions: Annotated[
        str | None,
        option(
            "Allow only these actions, such as click,type, besides those that only look.", "--allow-actions", "KINDS"
        ),
    ] = None
    allow_host: Annotated[
        list[str] | None,
        option(
            "A host that may be reached, such as example.org or *.example.org, or several separated by commas; others "
            "may not.",
            "--allow-host",
            "HOST",
        ),
    ] = None
    deny_host: Annotated[
        list[str] | None, option("A host that may not be reached, even if allowed.", "--deny-host", "HOST")
    ] = None

    @property
    def variables(self) -> list[str]:
        """The environment variables that hold the secrets and private data, each once."""
        given = (
            *pairs_of(self.secret, "--secret", "name=VARIABLE"),
            *pairs_of(self.code, "--code", "name=VARIABLE"),
            *pairs_of(self._private_values, "--private", "name=VARIABLE"),
        )
        return list(dict.fromkeys(variable for _, variable in given))

    @property
    def written_again(self) -> list[str]:
        """The options that no record answers for, as they are written in a command: secrets, private data, files."""
        return written(
            ("--secret", self.secret),
            ("--code", self.code),
            ("--private", self._private_values),
            ("--file", self.file),
        )

    @property
    def _private_values(self) -> list[str]:
        """The values of `--private` that name a variable."""
        return [each for each in self.private or () if "=" in each]

    def task(
        self,
        goal: str,
        url: str | None,
        limits: Limits,
        fill: Callable[[str], str] = str,
        environment: Mapping[str, str] | None = None,
    ) -> Task:
        """The task with this goal.

        `fill` completes the instructions and the values of `--data` and `--expect`; `environment` has the variables of
        secrets, None: that of this process.
        """
        from vision_agent.policy.success_checks import check_from, filled_check
        from vision_agent.session.keywords import start_url_from
        from vision_agent.types import Task

        return Task(
            goal=goal,
            instructions=fill(self.instructions or ""),
            start_url=start_url_from(url) if url is not None else None,
            limits=limits,
            user_data={name: fill(value) for name, value in pairs_of(self.data, "--data")},
            secrets=bound_to_origins(
                (
                    *secrets_of(self.secret, fields=self.secret_field, environment=environment),
                    *secrets_of(self.code, "--code", is_code=True, environment=environment),
                    *secrets_of(self._private_values, "--private", is_private=True, environment=environment),
                ),
                self.secret_origin,
            ),
            private_kinds=private_kinds_of([each for each in self.private or () if "=" not in each]),
            checks=tuple(filled_check(check_from(each, "--expect"), fill) for each in self.expect or ()),
            answer_schema=schema_in(self.output_schema),
            files=(*existing_files(self.file), *files_in(self.upload_folder)),
            allowed_actions=_named(self.allow_actions),
            allowed_hosts=hosts_of(self.allow_host) if self.allow_host else None,
            denied_hosts=hosts_of(self.deny_host),
        )


@dataclass(frozen=True)
class RunBrowserOptions(BrowserOptions):
    """The browser options of a new run."""

    proxy: Annotated[str | None, option("The proxy that the browser uses.", "--proxy", "URL")] = None
    save_session: Annotated[
        bool,
        typer.Option(
            "--save-session",
            help="At the end, save the sign-in under the name that --session gives, even if it is new.",
        ),
    ] = False
    trace: Annotated[
        bool,
        typer.Option(
            "--trace", help="Also record a Playwright trace; it contains all typed text, so secrets are refused."
        ),
    ] = False
    show_marks: Annotated[bool, typer.Option("--show-marks", help="Show the marks in the browser window.")] = False

    @property
    def flags(self) -> dict[str, Any]:
        """The given options as arguments of `settings.load`."""
        more = given(
            proxy={"server": self.proxy} if self.proxy else None,
            trace=self.trace or None,
            save_session=self.save_session or None,
        )
        browser = {**super().flags.get("browser", {}), **more}
        observe = {"marks_on_page": True} if self.show_marks else None
        return given(browser=browser or None, observe=observe)


@dataclass(frozen=True)
class ApprovalOptions:
    """What needs approval by a person."""

    panel: ClassVar = "Approval"

    approve: Annotated[
        str | None,
        option(
            "What needs approval; default: never, so nobody is asked before anything is bought, sent or deleted.",
            "--approve",
            "never|risky|always",
        ),
    ] = None
    policy: Annotated[Path | None, option("A TOML file that defines what is risky.", "--policy", "FILE")] = None
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Stop before the first action that does more than look, and name it."),
    ] = False

    @property
    def settings(self) -> dict[str, Any]:
        """The given options, which override the policy file."""
        from vision_agent.settings import load_policy

        policy = load_policy(self.policy) if self.policy else {}
        return {**policy, **given(ask=self.approve, dry_run=self.dry_run or None)}


@app.command(rich_help_panel="Runs")
@option_groups
def run(
    url: Annotated[str, typer.Argument(help="The start page: an address, a host, or the path of a file.")],
    goal: Annotated[str, typer.Argument(help="The goal, in plain words.", show_default=False)] = "",
    *,
    decides: ModelOptions,
    task: TaskOptions,
    runs: Runs = None,
    name: RunName = None,
    limits: LimitOptions,
    browser: RunBrowserOptions,
    approval: ApprovalOptions,
    supervision: SuperviseOptions,
    rows: RowOptions,
    video: Video = None,
    as_json: AsJson = False,
) -> None:
    """Do a task on a page and record it in a run folder.

    With a model: vision-agent run https://example.org "Find the imprint"

    With step lines: vision-agent run https://example.org --steps lines.txt

    By hand: vision-agent run https://example.org "Find the imprint" --model human

    Approve each step: vision-agent run https://example.org "Find the imprint" --supervise

    Dry run: vision-agent run https://example.org "Find the imprint" --dry-run

    Many at once: vision-agent run https://example.org "Order {product}" --over orders.csv --jobs 4

    A step line is one action: click Sign in · type "a@b.c" into Email · select Large in Size · press Enter ·
    scroll down · wait for "Thank you" · finish.

    Exit codes: 0 done or a dry run, 1 not done, 2 usage or an error, 3 limit, 4 needs a person,
    5 browser, model or disk down, 130 interrupted.
    """
    from vision_agent.models.credentials import WITHOUT_A_MODEL
    from vision_agent.session import Agent
    from vision_agent.session.deciders import require_models

    settings = load_settings(
        **browser.flags,
        **given(
            limits=limits.limits or None,
            runs=runs,
            model=decides.settings or None,
            approval=approval.settings or None,
            supervise=supervision.settings or None,
        ),
    )
    if supervision.supervise:
        settings = with_supervision(settings)
    if not goal and decides.steps is None:
        raise UsageError(
            "There is no goal", 'give one: vision-agent run URL "Find the imprint"; or step lines: --steps FILE'
        )
    rows.check()
    if rows.over is not None:
        decider = "" if decides.steps is not None else decides.model or settings.model.name
        cdp_url = settings.browser.cdp_url
        rows.require_unattended(decider, cdp_url, name, is_supervised=supervision.supervise)
        if runs is not None:
            raise UsageError(
                "--over keeps the runs of its rows in one folder", "name it with --out, and leave out --runs"
            )
        if video is not None:
            raise UsageError("--over makes many runs, and --video shows one", "write films with report --animate")
        _run_rows(url, goal, decides, task, settings, rows, as_json)
    require_film(video)
    is_asked = settings.approval.ask != "never"
    model = chosen_model(decides.model, decides.steps, dict(pairs_of(task.data, "--data")))
    person = terminal_person()
    agent = Agent(
        task.task(goal or _goal_of_lines(decides.steps), url, settings.limits),
        model=model,
        settings=settings,
        begin=named_beginning(decides.begin, runs),
        name=name,
        person=person,
        approver=terminal_approver(as_json, settings) if is_asked and not supervision.supervise else None,
    )
    require_models(model, settings, instead=WITHOUT_A_MODEL)
    page = attach_supervision_page(agent) if supervision.supervise else None
    is_human = (decides.model or settings.model.name) == "human" and decides.steps is None
    is_file = (agent.task.start_url or "").startswith("file:")
    of_run = written(
        ("--url", url if is_file else None), ("--approve", approval.approve), ("--policy", approval.policy)
    )
    again = [*task.written_again, *of_run, *supervision.written]
    is_shared = is_human or (page is None and is_asked)
    run_agent(agent, as_json, is_shared, page, steps=decides.steps, again=again, video=video, person=person)


def _run_rows(
    url: str,
    goal: str,
    decides: ModelOptions,
    task: TaskOptions,
    settings: Settings,
    rows: RowOptions,
    as_json: bool,
) -> NoReturn:
    """One run for each row; nobody is asked, so what needs approval ends its row."""
    from vision_agent.batch import read_rows
    from vision_agent.models.credentials import WITHOUT_A_MODEL
    from vision_agent.models.offline.steps import StepsModel
    from vision_agent.session import Agent
    from vision_agent.session.deciders import require_models

    if decides.begin is not None:
        raise UsageError("--over cannot be combined with --begin", "leave out one of them")
    model = chosen_model(decides.model, None) if decides.steps is None else None
    is_own = model is not None and not isinstance(model, str)
    if is_own and rows.ray is not None:
        raise UsageError(f"The decider {decides.model} runs only on this machine", "leave out --ray")
    lines = None if decides.steps is None else step_lines_in(decides.steps)
    if lines is None and rows.ray in (None, "local"):  # other machines have keys of their own
        require_models(model, settings, instead=WITHOUT_A_MODEL)

    def make_agent(row: Row, plan: RowPlan) -> Agent:
        own = chosen_model(decides.model, None) if is_own else model
        costs = [each for each in (settings.limits.cost_usd, plan.max_cost) if each is not None]
        limits = settings.limits.model_copy(update={"cost_usd": min(costs, default=None)})
        return Agent(
            task.task(row.fill(goal or _goal_of_lines(decides.steps)), row.fill_address(url), limits, row.fill),
            model=own if lines is None else StepsModel(row.fill_lines(lines)),
            settings=settings.model_copy(update={"runs": plan.runs, "limits": limits}),
        )

    assert rows.over is not None
    table = read_rows(rows.over)
    title = goal or _goal_of_lines(decides.steps)
    run_over(rows, table, make_agent, title, lambda row: lines and list(row.fill_lines(lines)), as_json)


def _goal_of_lines(steps: Path | None) -> str:
    return "Follow the step lines" if steps is None or str(steps) == "-" else f"{GOAL_OF_LINES}{steps}"


def _named(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(each.strip() for each in text.split(",") if each.strip())
