"""OpenTelemetry spans of a run, in the GenAI conventions: `invoke_agent`, `chat` and `execute_tool`.

Each span of a step carries the step's hash, so that a trace and a record can be joined. Spans hold no page text, no
goal and no arguments. Where the program has not configured OpenTelemetry, nothing is made; nothing is ever sent from
here. If the model's own client makes a span for a request, no second one is made.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from vision_agent.actions import Action
from vision_agent.events import Decided, Ended, Event, Happened, Intended, Judged, Observed, Proposed, Stepped, Troubled
from vision_agent.types import Decision, Ending, Outcome, Usage, total_cost

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

RUN = "vision_agent.run"
STEP = "vision_agent.step"
STEP_HASH = "vision_agent.step.hash"
RECORD_HASH = "vision_agent.record.hash"

_NAME = "vision-agent"
_SCOPE = "vision_agent"
_OF_A_MODEL = ("chat", "generate_content", "text_completion")
"""What the conventions call a request to a model."""


@contextmanager
def run_spans(run: str, model: str, head: Callable[[], str]) -> Iterator[RunSpans | None]:
    """The spans of one run, inside its `invoke_agent` span; None if the program does not use OpenTelemetry.

    `head` returns the hash of the record so far.
    """
    tracer = _tracer()
    if tracer is None:
        yield None
        return
    from opentelemetry.trace import SpanKind

    facts = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": _NAME, RUN: run, **_model_facts(model)}
    # An error may quote a secret until it has been redacted: only its kind is told.
    options: dict[str, Any] = {"record_exception": False, "set_status_on_exception": False}
    with tracer.start_as_current_span(
        f"invoke_agent {_NAME}", kind=SpanKind.INTERNAL, attributes=facts, **options
    ) as span:
        spans = RunSpans(tracer, span, run, model, head)
        try:
            yield spans
        except BaseException as error:
            _fail(span, type(error).__name__)
            raise
        finally:
            spans.close()


class RunSpans:
    """A listener for the events of one run that makes its spans."""

    def __init__(self, tracer: Tracer, span: Span, run: str, model: str, head: Callable[[], str]) -> None:
        self._tracer = tracer
        self._span = span
        self._run = run
        self._model = model
        self._head = head
        self._step = 0
        self._ended: list[tuple[Span, int]] = []
        """The spans of this step with the times at which they ended; they are sent once the step's hash is known."""
        self._tool: tuple[Span, Token[Context]] | None = None
        self._is_proposed = False
        self._usages: list[Usage] = []
        self._requests = _ForeignRequests(span, run)
        self._asked_at = time.time_ns()

    def __call__(self, event: Event) -> None:
        """Starts or ends the spans that an event tells of."""
        match event:
            case Observed(step=step):
                self._step = self._requests.step = step
                self._wait_for_reply()
            case Proposed(decision=decision):
                self._decided(decision)
                self._is_proposed = True
            case Decided(decision=decision) if not self._is_proposed:
                self._decided(decision)
            case Judged(verdict=verdict) if verdict.usage is not None:
                self._asked(verdict.model, verdict.reply_id, verdict.usage)
            case Troubled(usage=Usage() as usage):
                self._asked(self._model, None, usage, "unusable_reply")
            case Intended(action=action):
                self._begin_tool(action)
            case Happened(outcome=outcome):
                self._end_tool(outcome)
            case Stepped():
                self._end_step()
            case Ended(ending=ending):
                self._end_run(ending)

    def close(self) -> None:
        """Ends what is still open, such as the spans of a step that was cut off."""
        if self._tool is not None:
            self._end_tool(None)
        self._end_step()
        self._requests.close()

    def _decided(self, decision: Decision) -> None:
        if decision.usage is None:
            return
        if decision.author == "model":
            self._asked(decision.model or self._model, decision.reply_id, decision.usage)
        else:  # a decider of one's own tells what it used, and its requests are not known here
            self._usages.append(decision.usage)

    def _asked(self, model: str, reply_id: str | None, usage: Usage, error: str = "") -> None:
        """Makes the span of a request, unless the model's client, or what instruments it, has made one."""
        from opentelemetry.trace import SpanKind

        self._usages.append(usage)
        if not self._requests.count:
            named = model if ":" in model else f"{self._model.partition(':')[0]}:{model}"
            facts = {**_model_facts(named), **_usage_facts([usage])}
            if reply_id is not None:
                facts["gen_ai.response.id"] = reply_id
            name = f"chat {named.partition(':')[2]}"
            span = self._start(name, "chat", facts, kind=SpanKind.CLIENT, start_time=self._asked_at)
            if error:
                _fail(span, error)
            self._ended.append((span, time.time_ns()))
        self._wait_for_reply()

    def _wait_for_reply(self) -> None:
        self._asked_at, self._requests.count = time.time_ns(), 0

    def _begin_tool(self, action: Action) -> None:
        from opentelemetry import context, trace

        name = action.name if action.kind == "custom" else action.kind
        span = self._start(f"execute_tool {name}", "execute_tool", {"gen_ai.tool.name": name})
        self._requests.watch(span)
        self._tool = span, context.attach(trace.set_span_in_context(span))

    def _end_tool(self, outcome: Outcome | None) -> None:
        """Ends the span of the action in progress; an outcome without one is of an action that was not tried."""
        if self._tool is None:
            return
        from opentelemetry import context

        (span, token), self._tool = self._tool, None
        context.detach(token)
        if outcome is None:
            _fail(span, "interrupted")
        else:
            span.set_attribute("vision_agent.status", outcome.status)
            if outcome.effect is not None:
                span.set_attribute("vision_agent.effect", outcome.effect)
            if outcome.refusal is not None:
                _fail(span, outcome.refusal)
        self._ended.append((span, time.time_ns()))
        self._wait_for_reply()

    def _start(self, name: str, operation: str, facts: dict[str, Any], **options: Any) -> Span:
        from opentelemetry.trace import set_span_in_context

        attributes = {"gen_ai.operation.name": operation, RUN: self._run, STEP: self._step, **facts}
        inside = set_span_in_context(self._span)
        return self._tracer.start_span(name, context=inside, attributes=attributes, **options)

    def _end_step(self) -> None:
        for span, ended in self._ended:
            span.set_attribute(STEP_HASH, self._head())
            span.end(ended)
        self._ended, self._is_proposed = [], False

    def _end_run(self, ending: Ending) -> None:
        for name, value in _usage_facts(self._usages).items():
            self._span.set_attribute(name, value)
        self._span.set_attribute("vision_agent.status", ending.status)
        self._span.set_attribute(RECORD_HASH, self._head())
        if ending.exit_code:
            _fail(self._span, ending.status)


def _model_facts(model: str) -> dict[str, Any]:
    """What is known of a model by its name; nothing of deciders that are none, such as `steps`."""
    provider, colon, name = model.partition(":")
    if not colon:
        return {}
    provider = {"google": "gcp.gemini", "openai-compatible": "openai"}.get(provider, provider)
    return {"gen_ai.provider.name": provider, "gen_ai.request.model": name}


def _usage_facts(usages: list[Usage]) -> dict[str, Any]:
    if not usages:
        return {}
    read, written = sum(each.cache_read_tokens for each in usages), sum(each.cache_write_tokens for each in usages)
    facts: dict[str, Any] = {
        "gen_ai.usage.input_tokens": sum(each.input_tokens for each in usages) + read + written,
        "gen_ai.usage.output_tokens": sum(each.output_tokens for each in usages),
        "gen_ai.usage.cache_read.input_tokens": read,
        "gen_ai.usage.cache_creation.input_tokens": written,
    }
    cost = total_cost(usages)
    return facts if cost is None else {**facts, "vision_agent.cost_usd": cost}


def _fail(span: Span, error: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", error)
    span.set_status(Status(StatusCode.ERROR))


def _tracer() -> Tracer | None:
    """A tracer, if the program has configured where spans go: it has imported OpenTelemetry then."""
    if "opentelemetry.trace" not in sys.modules:
        return None
    from opentelemetry import trace

    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return trace.get_tracer(_SCOPE)


class _ForeignRequests:
    """Counts the spans of requests to models that other code makes inside the spans of one run."""

    def __init__(self, span: Span, run: str) -> None:
        self.count = 0
        self.run = run
        self.step = 0
        self._parents: list[int] = []
        _PROCESSOR.watch_provider()
        self.watch(span)

    def watch(self, span: Span) -> None:
        """Also counts those right inside this span."""
        self._parents.append(span.get_span_context().span_id)
        _PROCESSOR.counted[self._parents[-1]] = self

    def close(self) -> None:
        """Counts no more."""
        for each in self._parents:
            _PROCESSOR.counted.pop(each, None)


class _Processor:
    """A processor of spans, as the SDK's provider takes them."""

    def __init__(self) -> None:
        self.counted: dict[int, _ForeignRequests] = {}
        """By the span in which requests are counted."""
        self._known: WeakSet[Any] = WeakSet()

    def watch_provider(self) -> None:
        """Hears of the spans that end from now on; nothing can be taken off a provider, so it is added once."""
        from opentelemetry import trace

        provider: Any = trace.get_tracer_provider()
        if provider not in self._known and hasattr(provider, "add_span_processor"):
            provider.add_span_processor(self)
            self._known.add(provider)

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        """Tells a span of other code which run and step it belongs to; the step's hash is not known yet."""
        del parent_context
        if (counted := self._foreign(span)) is not None:
            span.set_attributes({RUN: counted.run, STEP: counted.step})

    def _on_ending(self, span: Any) -> None:
        """Nothing."""

    def on_end(self, span: Any) -> None:
        """Counts a span of a request."""
        counted = self._foreign(span)
        if counted is not None and (span.attributes or {}).get("gen_ai.operation.name") in _OF_A_MODEL:
            counted.count += 1

    def _foreign(self, span: Any) -> _ForeignRequests | None:
        """What counts a span, if other code made it."""
        is_ours = span.instrumentation_scope is not None and span.instrumentation_scope.name == _SCOPE
        return None if is_ours or span.parent is None else self.counted.get(span.parent.span_id)

    def shutdown(self) -> None:
        """Nothing is held."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Nothing is held back."""
        del timeout_millis
        return True


_PROCESSOR = _Processor()
