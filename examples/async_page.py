"""An agent on a page that you opened yourself: `python examples/async_page.py`.

The lines below decide, so no key is needed.
For a model to decide, leave `model` out and set ANTHROPIC_API_KEY.
"""

import asyncio
from shutil import which

from playwright.async_api import async_playwright

from vision_agent import Agent
from vision_agent.models.offline.steps import StepsModel
from vision_agent.settings import load

PAGE = """<title>Newsletter</title>
<h1>Newsletter</h1>
<label>Email <input type="email"></label>
<button onclick="document.querySelector('p').textContent = 'Thank you, ' + document.querySelector('input').value">
  Subscribe
</button>
<p>Once a month, never more.</p>"""

LINES = ['type "ada@example.org" into Email', "click Subscribe", 'wait for "Thank you"', "finish Subscribed"]


async def main() -> None:
    settings = load()
    async with async_playwright() as playwright:
        # The one that the settings name, else the one on the PATH, else Playwright's own.
        browser = await playwright.chromium.launch(
            executable_path=settings.browser.executable_path or which("chromium")
        )
        page = await browser.new_page()
        await page.set_content(PAGE)

        agent = Agent("Subscribe to the newsletter", model=StepsModel(LINES), page=page, settings=settings)
        run = await agent.run()

        print(run.ending.answer if run.ending else "cut off")
        # The page is yours: still open, and as the agent left it.
        print(await page.locator("p").inner_text())
        print(f"Report: {agent.report}")
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
