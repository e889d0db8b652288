"""The same for code without `await`: `python examples/sync_page.py`.

The lines below decide, so no key is needed.
For a model to decide, leave `model` out and set ANTHROPIC_API_KEY.
"""

from shutil import which

from playwright.sync_api import sync_playwright

from vision_agent.models.offline.steps import StepsModel
from vision_agent.settings import load
from vision_agent.sync_api import Agent

PAGE = """<title>Newsletter</title>
<h1>Newsletter</h1>
<label>Email <input type="email"></label>
<button onclick="document.querySelector('p').textContent = 'Thank you, ' + document.querySelector('input').value">
  Subscribe
</button>
<p>Once a month, never more.</p>"""

LINES = ['type "ada@example.org" into Email', "click Subscribe", 'wait for "Thank you"', "finish Subscribed"]


def main() -> None:
    settings = load()
    with sync_playwright() as playwright:
        # The one that the settings name, else the one on the PATH, else Playwright's own.
        browser = playwright.chromium.launch(executable_path=settings.browser.executable_path or which("chromium"))
        page = browser.new_page()
        page.on("console", lambda message: print("The page says:", message.text))
        page.set_content(PAGE)

        agent = Agent("Subscribe to the newsletter", model=StepsModel(LINES), page=page, settings=settings)
        run = agent.run()

        print(run.ending.answer if run.ending else "cut off")
        # The page is yours: still open, and as the agent left it.
        print(page.locator("p").inner_text())
        print(f"Report: {agent.report}")
        browser.close()


if __name__ == "__main__":
    main()
