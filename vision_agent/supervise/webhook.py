"""Posts each proposal that needs approval to a webhook, signed, with a link to the supervision page.

The signature is `t=<seconds>,v1=<hex>` in the header `X-Vision-Agent-Signature`: HMAC-SHA256 over `<seconds>.<body>`
with the shared secret. The answer comes back through the link only; what the receiver answers is not read.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from vision_agent.describe.action_sentences import describe_action
from vision_agent.errors import UsageError
from vision_agent.observation import Observation
from vision_agent.settings import SuperviseSettings
from vision_agent.text.urls import shown_address
from vision_agent.types import Decision, Risky, Task

SIGNATURE = "X-Vision-Agent-Signature"
_DEADLINE_S = 10.0
_PAUSES_S = (1.0, 3.0)
"""Before each further try."""
_REFUSED = 300
_TRIED_AGAIN = (408, 425, 429)
_SERVER_FAULT = 500


class WebhookFailed(UsageError):
    """The receiver did not take what was posted."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the person named one address, and what is posted is for nobody else."""

    def redirect_request(self, *_: Any) -> None:
        """Nothing."""
        return


class Webhook:
    """The receiver of proposals and questions."""

    def __init__(
        self,
        address: str,
        secret: str,
        *,
        pauses_s: tuple[float, ...] = _PAUSES_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.name = urlsplit(address).hostname or ""
        """Its host, for sentences: the rest of the address may be secret."""
        self._address = address
        self._secret = secret
        self._pauses_s = pauses_s
        self._clock = clock

    async def send(self, message: Mapping[str, Any]) -> None:
        """Posts a message; the same bytes again if the receiver is down for a moment.

        Raises:
            WebhookFailed: it was not taken.
        """
        body = json.dumps(message, ensure_ascii=False).encode()
        for pause in (*self._pauses_s, None):
            try:
                code = await asyncio.to_thread(self._post, body)
            except (OSError, ValueError) as error:
                said, may_pass = _words_of(error), True
            else:
                if code < _REFUSED:
                    return
                said, may_pass = f"it answered {code}", code >= _SERVER_FAULT or code in _TRIED_AGAIN
            if pause is None or not may_pass:
                raise WebhookFailed(f"The webhook at {self.name} could not be told: {said}", "is its server running?")
            await asyncio.sleep(pause)

    def _post(self, body: bytes) -> int:
        """The code of the answer, whose connection is closed."""
        request = urllib.request.Request(
            self._address,
            data=body,
            method="POST",
            headers={
                "Content-Type": "application/json",
                "User-Agent": "vision-agent",
                SIGNATURE: sign(body, self._secret, int(self._clock())),
            },
        )
        try:
            answer = urllib.request.build_opener(_NoRedirect).open(request, timeout=_DEADLINE_S)
        except urllib.error.HTTPError as refused:
            answer = refused
        with answer:
            return int(answer.status)


def webhook_of(settings: SuperviseSettings) -> Webhook | None:
    """The receiver that the settings name, if they name one."""
    secret = settings.webhook_secret
    if settings.webhook is None or secret is None:
        return None
    return Webhook(settings.webhook, secret.get_secret_value())


def proposal_message(
    task: Task, observation: Observation, decision: Decision, risks: Sequence[Risky]
) -> dict[str, Any]:
    """What the receiver is told about a proposal; everything in it is redacted as in the record."""
    shot = observation.marked
    return {
        "version": 1,
        "kind": "proposal",
        "goal": task.goal,
        "url": shown_address(observation.url),
        "title": observation.title,
        "next_goal": decision.next_goal,
        "by": decision.model or decision.author,
        "actions": [describe_action(action, observation) for action in decision.actions],
        "risks": [each.model_dump(mode="json") for each in risks],
        "picture": {
            "media_type": shot.media_type,
            "width": shot.size.width,
            "height": shot.size.height,
            "sha256": shot.sha256,
            "base64": base64.b64encode(shot.data or b"").decode(),
        },
    }


def question_message(goal: str) -> dict[str, Any]:
    """What the receiver is told about a question: not its words, which may hold what only the person may read."""
    return {"version": 1, "kind": "question", "goal": goal}


def sign(body: bytes, secret: str, at: int) -> str:
    """The value of the signature header for a body that is posted at this time, in seconds since 1970."""
    signature = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={signature}"


def _words_of(error: Exception) -> str:
    reason = getattr(error, "reason", None)
    said = reason if isinstance(reason, Exception) else error
    if isinstance(said, TimeoutError):
        return f"no answer within {_DEADLINE_S:g} s"
    return getattr(said, "strerror", None) or str(said)
