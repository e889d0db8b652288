"""The MCP server: its tools with their schemas and hints, and calls as the protocol carries them.

Speaks both eras of the protocol: a person is asked by a request to the client, or, where the protocol is stateless, by
an answer that the client repeats its call with.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import traceback
from importlib import metadata
from typing import Any

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

from vision_agent.integrations.mcp.browser_session import PersonQuestion
from vision_agent.integrations.mcp.calls import Calls, ToolAnswer
from vision_agent.integrations.mcp.instructions import instructions
from vision_agent.integrations.mcp.look_app import APP_URI, EXTENSIONS, TOOL_META, app_contents, app_resource
from vision_agent.integrations.mcp.sessions import Sessions
from vision_agent.integrations.mcp.tools import AnswerArguments, ToolSpec, offered_tools

_ASKED = "person"
"""The key of the one question in an answer."""
_log = logging.getLogger(__name__)


def make_server(sessions: Sessions) -> Server[Any]:
    """The server of these sessions."""
    rules = sessions.rules
    tools = offered_tools(uploads=bool(rules.task.files), lends=rules.model is not None)
    calls = Calls(sessions, tools)
    listed = [_listed(spec) for spec in tools.values()]

    async def list_tools(
        _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        try:
            answer = await calls.answer(params.name, params.arguments or {}, _Client(context, params))
        except Exception as error:  # noqa: BLE001 - a mistake of ours; its message may quote a page
            where = "".join(traceback.format_tb(error.__traceback__))
            _log.error("a tool call failed with %s:\n%s", type(error).__name__, where)
            sentence = f"Internal error: {type(error).__name__}. Look again: what was done is unknown."
            answer = ToolAnswer(sentence, is_refused=True)
        if answer.question is not None:
            return types.InputRequiredResult(
                input_requests={_ASKED: _question(answer.question)}, request_state=answer.question.id
            )
        return types.CallToolResult(content=_content(answer), is_error=answer.is_refused)

    async def list_resources(
        _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[app_resource()])

    async def list_templates(
        _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[])

    async def read_resource(
        _: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        if params.uri != APP_URI:
            raise MCPError(types.INVALID_PARAMS, f"There is no resource {params.uri[:100]!r}; there is {APP_URI}.")
        return types.ReadResourceResult(contents=[app_contents()])

    server = Server[Any](
        "vision-agent",
        version=metadata.version("vision-agent"),
        title="vision-agent",
        instructions=instructions(sessions.rules.task),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )
    server.extensions = EXTENSIONS
    return server


def _listed(spec: ToolSpec) -> types.Tool:
    return types.Tool(
        name=spec.name,
        description=spec.description,
        input_schema=spec.schema,
        annotations=types.ToolAnnotations(
            read_only_hint=spec.is_read_only,
            destructive_hint=spec.is_destructive,
            idempotent_hint=spec.is_idempotent,
            open_world_hint=True,
        ),
        _meta=TOOL_META if issubclass(spec.arguments, AnswerArguments) else None,
    )


def _content(answer: ToolAnswer) -> list[types.ContentBlock]:
    content: list[types.ContentBlock] = [types.TextContent(text=answer.text)]
    if answer.picture is not None and answer.picture.data is not None:
        data = base64.b64encode(answer.picture.data).decode()
        content.insert(0, types.ImageContent(data=data, mime_type=answer.picture.media_type))
    return content


def _question(question: PersonQuestion) -> types.ElicitRequest:
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=question.text, requested_schema=_schema(question))
    )


def _schema(question: PersonQuestion) -> dict[str, Any]:
    if question.is_approval:
        return {
            "type": "object",
            "properties": {"approve": {"type": "boolean", "title": "Approve", "description": "Do it"}},
            "required": ["approve"],
        }
    return {
        "type": "object",
        "properties": {"answer": {"type": "string", "title": "Answer"}},
        "required": ["answer"],
    }


def _person_answer(result: Any, *, is_approval: bool) -> str | bool | None:
    """What the person said: only a form that was sent off counts as approval or as an answer."""
    if not isinstance(result, types.ElicitResult) or result.action == "cancel":
        return None
    if is_approval:
        return result.action == "accept" and (result.content or {}).get("approve") is True
    text = (result.content or {}).get("answer") if result.action == "accept" else None
    return text if isinstance(text, str) else None


class _Client:
    """The client of one call."""

    def __init__(self, context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> None:
        self._context = context
        headers = getattr(context.request, "headers", None)
        self.owner: object = headers.get("mcp-session-id") if headers is not None else None
        capabilities = context.session.client_capabilities
        self.can_ask = capabilities is not None and capabilities.elicitation is not None
        self.answered: tuple[str, str | bool | None] | None = None
        if params.request_state is not None:
            result = (params.input_responses or {}).get(_ASKED)
            said = _person_answer(result, is_approval=True)
            if isinstance(result, types.ElicitResult) and "answer" in (result.content or {}):
                said = _person_answer(result, is_approval=False)
            self.answered = (params.request_state[:100], said)

    async def ask(self, question: PersonQuestion) -> tuple[str | bool | None] | None:
        """The person's answer; None where the protocol has the client repeat its call with it."""
        if not self._context.session.can_send_request:
            return None
        try:
            async with asyncio.timeout(question.wait_s):
                result = await self._context.session.elicit_form(
                    question.text, _schema(question), related_request_id=self._context.request_id
                )
        except Exception:  # noqa: BLE001 - whatever the client answers instead is no approval
            return (None,)
        return (_person_answer(result, is_approval=question.is_approval),)
