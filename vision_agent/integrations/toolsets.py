"""A toolset for pydantic-ai: the tools of `vision-agent mcp`, in the same process."""

from __future__ import annotations

from typing import Any, Self

from pydantic_ai import BinaryContent, ModelRetry, Tool
from pydantic_ai.toolsets import FunctionToolset

from vision_agent.integrations.browser_tools import BrowserTools


class MarkedBrowser(FunctionToolset[Any]):
    """The browser as a toolset: `Agent(model, toolsets=[browser])` within `async with MarkedBrowser() as browser`.

    Takes what `BrowserTools` takes. A refused call goes back to the model with the reason, and may be repeated up to
    `max_retries` times.
    """

    def __init__(self, *args: Any, max_retries: int = 5, **options: Any) -> None:
        self.browser = BrowserTools(*args, **options)
        self._entered = 0
        tools = [
            Tool.from_schema(
                self._function(name),
                name=name,
                description=spec.description,
                json_schema=spec.schema,
                # A decision belongs to one look: calls of one reply are answered in turn.
                sequential=True,
            )
            for name, spec in self.browser.specs.items()
        ]
        super().__init__(tools, max_retries=max_retries, instructions=self.browser.instructions)

    async def __aenter__(self) -> Self:
        """Enters once more, as each run of an agent does too."""
        self._entered += 1
        return self

    async def __aexit__(self, *args: Any) -> bool | None:
        """Closes the sessions when the outermost block ends, so that their records are complete."""
        self._entered -= 1
        if self._entered == 0:
            await self.browser.close_of(None)
        return None

    def _function(self, name: str) -> Any:
        async def call(**arguments: Any) -> list[str | BinaryContent]:
            answer = await self.browser.call(name, arguments)
            if answer.is_refused:
                raise ModelRetry(answer.text)
            content: list[str | BinaryContent] = [answer.text]
            if answer.picture is not None and answer.picture.data is not None:
                content.append(BinaryContent(answer.picture.data, media_type=answer.picture.media_type))
            return content

        return call
