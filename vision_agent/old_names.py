"""Keeps names of 0.1 and 0.2 working until 0.3, with a warning: old module paths, and old names in modules.

Internal names are not kept: paths that are something else now, such as `browser.locate`, and names whose arguments have
changed too, such as `browser.live.on` (now `attach`) and `models.providers.ProviderModel`.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec

TYPE_CHECKING = False
"""As in `__init__`, which imports this module."""

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

_PACKAGE = "vision_agent."
MODULES = {
    "action_sentences": "describe.action_sentences",
    "again": "policy.rebind",
    "approval": "policy.approval",
    "browser.batch": "browser.act.batch_guard",
    "browser.by_hand": "browser.takeover.manual_actions",
    "browser.capture": "browser.page.capture",
    "browser.chromium": "browser.cdp",
    "browser.closed": "browser.page.closed_shadow",
    "browser.density": "browser.observe.mark_limit",
    "browser.effect": "browser.act.effect",
    "browser.fields": "browser.act.fields",
    "browser.frames": "browser.page.frames",
    "browser.gate": "browser.network.host_policy",
    "browser.guard": "browser.act.press_guard",
    "browser.hands": "browser.act.input_sender",
    "browser.hold": "browser.network.request_interception",
    "browser.ladder": "browser.locate.relocate",
    "browser.lasting": "browser.restarting",
    "browser.listeners": "browser.page.listeners",
    "browser.listing": "browser.observe.listing",
    "browser.navigations": "browser.network.navigations",
    "browser.numbers": "browser.observe.numbers",
    "browser.options": "browser.act.select",
    "browser.overlay": "browser.page.overlay",
    "browser.pages": "browser.act.navigate",
    "browser.person": "browser.takeover.input_listener",
    "browser.pointer": "browser.act.pointer",
    "browser.proxy": "browser.network.filtering_proxy",
    "browser.reading": "browser.act.read",
    "browser.row_context": "browser.locate.context_changed",
    "browser.settle": "browser.page.settle",
    "browser.setup": "browser.launch.doctor",
    "browser.still": "browser.fake",
    "browser.surfaces": "browser.observe.surfaces",
    "browser.tabs": "browser.page.tabs",
    "browser.tokens": "evals.listing_tokens",
    "browser.trace": "browser.launch.playwright_trace",
    "browser.within": "browser.locate.drawn_target",
    "browser.zoom": "browser.act.zoom",
    "budget": "policy.budget",
    "cli.progress": "progress.terminal_progress",
    "cli_eval": "cli.eval",
    "cli_freeze": "cli.freeze",
    "cli_memory": "cli.memory",
    "cli_options": "cli.options",
    "cli_record": "cli.run_folders",
    "cli_replay": "cli.replay",
    "cli_run": "cli.running",
    "codes": "totp",
    "completion": "policy.success_checks",
    "custom": "custom_actions",
    "cut_off": "policy.interrupted",
    "distinctions": "describe.distinctions",
    "escape": "text.escape",
    "evals.by_task": "evals.results.by_task",
    "evals.causes": "evals.results.failure_causes",
    "evals.figures": "evals.run_metrics",
    "evals.frozen": "evals.suites.frozen",
    "evals.grades": "evals.answer_grading",
    "evals.mind2web": "evals.suites.mind2web",
    "evals.offline": "evals.suites.offline",
    "evals.on_ray": "evals.ray_workers",
    "evals.page": "evals.results.results_html",
    "evals.page_list": "evals.suites.page_list",
    "evals.parting": "evals.results.divergence",
    "evals.pictures": "evals.results.same_pictures",
    "evals.recorded": "evals.suites.recorded",
    "evals.sites": "evals.suites.fixture_sites",
    "evals.solvers": "evals.miniwob_solvers",
    "evals.suite_file": "evals.suites.suite_file",
    "evals.summary": "evals.results.summary",
    "evals.tables": "evals.results.tables",
    "evals.variants": "evals.suites.variants",
    "evals.witness": "evals.hit_oracle",
    "memory.account": "memory.exemplar_text",
    "models.anthropic": "models.llm.anthropic",
    "models.capabilities": "models.llm.capabilities",
    "models.choose": "models.factory",
    "models.clients": "models.llm.clients",
    "models.examples": "export.training_examples",
    "models.fill": "models.prompt.templates",
    "models.filter": "models.prompt.listing_filter",
    "models.find": "models.offline.resolve_target",
    "models.heal": "models.llm.heal",
    "models.history": "models.prompt.history",
    "models.human": "models.offline.human",
    "models.judge": "models.llm.judge",
    "models.keys": "models.credentials",
    "models.lines": "models.offline.grammar",
    "models.members": "models.llm.toolset_calls",
    "models.replayed": "models.offline.replayed",
    "models.scripted": "models.offline.scripted",
    "models.steps": "models.offline.steps",
    "models.toolset": "models.llm.toolset",
    "money": "text.money",
    "own_way": "policy.recovery",
    "phrases": "describe.action_sentences",
    "record.album": "record.embedded_images",
    "record.animation": "export.animation",
    "record.as_test": "export.playwright_test",
    "record.cere": "export.cere",
    "record.grounding": "export.grounding",
    "record.said": "record.model_inputs",
    "relevance": "policy.relevance",
    "standstill": "policy.stall",
    "supervise.page": "supervise.page_approver",
    "supervise.said": "supervise.step_line",
    "taken_up": "policy.resumed_run",
    "urls": "text.urls",
    "vision.annotate": "vision.labels.annotate",
    "vision.colours": "vision.labels.colours",
    "vision.contract": "vision.image_limits",
    "vision.crowd": "vision.labels.legibility",
    "vision.drawn": "vision.surfaces.tracking",
    "vision.ground": "vision.labels.placement_cost",
    "vision.lattice": "vision.surfaces.grid_detection",
    "vision.outlines": "vision.surfaces.outlines",
    "vision.place": "vision.labels.place",
    "vision.regions": "vision.surfaces.regions",
    "vision.rest": "vision.pixel_stability",
    "vision.rims": "vision.labels.grid_labels",
    "vision.surface": "vision.surfaces.candidates",
    "vision.words": "vision.surfaces.text_lines",
    "walls": "policy.blockers",
}
"""The current paths of modules by their old ones, below the package."""

_OF_A_LOOK = (
    "BOXED_FIELD",
    "Change",
    "Covered",
    "DRAWN_EDITOR",
    "Grid",
    "IconGuess",
    "Label",
    "Legibility",
    "Letter",
    "Mark",
    "MarkKey",
    "MarkState",
    "MarkStyle",
    "Source",
    "Tab",
    "Wording",
)

NAMES: dict[str, dict[str, str]] = {
    "browser.fake": {"StillBrowser": "FakeBrowser"},
    "browser.restarting": {"LastingBrowser": "RestartingBrowser", "lasting": "restarting"},
    "custom_actions": {"Hands": "ActionContext"},
    "models.factory": {"judge_named": "make_judge", "model_named": "make_model"},
    "models.offline.resolve_target": {
        "InGrid": "GridCell",
        "Named": "NamedTarget",
        "Within": "PointInMark",
        "find": "find_target",
    },
    "policy.blockers": {"Wall": "Blocker", "walls_in": "blockers_in"},
    "policy.interrupted": {"CutOff": "InterruptedStep", "GoesOn": "ResumePlan"},
    "policy.rebind": {"NotAsRecorded": "RebindError", "actions_again": "rebind_actions", "mark_again": "rebind_mark"},
    "policy.recovery": {"OwnWay": "RecoveryPolicy"},
    "policy.resumed_run": {"TakenUp": "ResumedRun"},
    "policy.stall": {"StallDetector": "Stall", "Standstill": "Stall", "Way": "WayBack", "noticed": "detect_stall"},
    "session": {"watching": "attach"},
    "sync_api": {"WatchedPage": "AttachedPage", "watching": "attach"},
    "types": {
        "ByHand": "ManualAction",
        "Check": "SuccessCheck",
        "Picture": "GoalPicture",
        **{name: f"observation.{name}" for name in _OF_A_LOOK},
    },
    "vision_agent": {"watching": "attach"},
    "vision.image_limits": {"Contract": "ImageLimits", "contract_for": "image_limits_for"},
}
"""The current names by the old ones, for each current path of a module; with a module, if they are in another one now.
Old fields stand in their own models."""


def renamed(module: str, name: str) -> Any:
    """The object that an old name of a module stands for, with a warning.

    Raises:
        AttributeError: the module never had that name.
    """
    new = NAMES.get(module.removeprefix(_PACKAGE), {}).get(name)
    if new is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    path, _, last = new.rpartition(".")
    warnings.warn(f"{module}.{name} is now {_PACKAGE + new if path else new}", DeprecationWarning, stacklevel=3)
    return getattr(import_module(_PACKAGE + path if path else module), last)


class _OldPaths:
    """A finder and loader. It inherits from none of `importlib.abc`, which takes 15 ms to import."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        is_old = fullname.startswith(_PACKAGE) and fullname.removeprefix(_PACKAGE) in MODULES
        return ModuleSpec(fullname, self) if is_old else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        del spec

    def exec_module(self, module: ModuleType) -> None:
        new = _PACKAGE + MODULES[module.__name__.removeprefix(_PACKAGE)]
        warnings.warn(f"{module.__name__} is now {new}", DeprecationWarning, stacklevel=2)
        now = import_module(new)
        here = NAMES.get(new.removeprefix(_PACKAGE), {})
        vars(module).update({name: each for name, each in vars(now).items() if not name.startswith("__")})
        vars(module).update({old: getattr(now, name) for old, name in here.items()})


def install() -> None:
    """Makes old module paths importable."""
    if not any(isinstance(each, _OldPaths) for each in sys.meta_path):
        sys.meta_path.append(_OldPaths())
