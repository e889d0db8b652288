"""The recipe of `docs/pages/guides/log-in.md` for a machine without a screen: sign in by hand in a supervised run."""

from __future__ import annotations

import asyncio
import os
import re
from asyncio.subprocess import PIPE
from pathlib import Path

from playwright.async_api import Browser, Page, Response, expect

from tests.conftest import Server
from tests.ready_python import python
from vision_agent.browser.launch.saved_session import PASSPHRASE
from vision_agent.record import verify

PASSWORD, CODE = "correct horse battery", "493817"
SHOP = f"""<!doctype html><title>Shop</title><style>* {{ margin: 0; font: 20px sans-serif }}
input, button {{ position: absolute; left: 0; width: 400px; height: 60px }} h1 {{ font-size: 40px }}</style>
<body><script>
const signedIn = document.cookie.includes('token=tok-9f3a1c');
document.body.innerHTML = signedIn ? '<h1>Welcome, Ann</h1>' : `<form>
<input aria-label=Email style="top: 0"><input aria-label=Password type=password style="top: 100px">
<input aria-label=Code autocomplete=one-time-code style="top: 200px"><button style="top: 300px">Sign in</button>
</form>`;
document.querySelector('form')?.addEventListener('submit', event => {{
  event.preventDefault();
  const said = [...document.querySelectorAll('input')].map(field => field.value).join('|');
  if (said === 'ann@example.org|{PASSWORD}|{CODE}') document.cookie = 'token=tok-9f3a1c; max-age=3600';
  location.reload();
}});
</script>"""
LINES = 'wait for "Welcome, Ann"\nfinish\n'


async def test_a_person_signs_in_by_hand_where_there_is_no_screen_and_later_runs_are_signed_in(
    browser: Browser, serve: Server, tmp_path: Path
) -> None:
    url = serve({"/": SHOP, "/favicon.ico": b""})
    (tmp_path / "by-hand.txt").write_text(LINES)
    bare = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment = {
        **bare,
        PASSPHRASE: "a long sentence that you keep",
        "VISION_AGENT_BROWSER__SESSIONS_FOLDER": str(tmp_path / "sessions"),
        "VISION_AGENT_RUNS": str(tmp_path / "runs"),
    }
    login = await asyncio.create_subprocess_exec(
        *(python(), "-m", "vision_agent", "login", "shop", url), env=environment, stdout=PIPE, stderr=PIPE
    )
    _, err = await login.communicate()
    assert login.returncode == 2
    options = "--steps by-hand.txt --supervise --session shop --save-session"
    assert f"vision-agent run {url} {options}" in " ".join(err.decode().split())

    again = [python(), "-m", "vision_agent", "run", url, "--steps", "by-hand.txt", "--session", "shop"]

    process = await asyncio.create_subprocess_exec(
        *again[:-4], *options.split(), cwd=tmp_path, env=environment, stdout=PIPE, stderr=PIPE
    )
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        assert process.stderr
        async with asyncio.timeout(120):
            while not (found := re.search(rb"Supervise it at (\S+)", await process.stderr.readline())):
                assert not process.stderr.at_eof(), "it ended before it told the address"
        desk = await context.new_page()
        await desk.goto(found[1].decode())
        await _sign_in(desk)
        async with asyncio.timeout(120):
            out, err = await process.communicate()
    finally:
        await context.close()
        if process.returncode is None:
            process.kill()
        await process.wait()
    assert (process.returncode, out) == (0, b"The task is done.\n"), err
    [folder] = (tmp_path / "runs").iterdir()
    assert verify(folder).holds
    record = b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())
    assert b"ann@example.org" in record
    assert PASSWORD.encode() not in record
    assert CODE.encode() not in record

    later = await asyncio.create_subprocess_exec(*again, cwd=tmp_path, env=environment, stdout=PIPE, stderr=PIPE)
    out, err = await later.communicate()
    assert (later.returncode, out) == (0, b"The task is done.\n"), err


async def _sign_in(desk: Page) -> None:
    """What the guide tells a person to do on the supervision page."""
    await expect(desk.locator("#asked-goal")).to_contain_text("Welcome, Ann")
    await desk.get_by_role("button", name="Take over").click()
    await expect(desk.locator("#phase")).to_contain_text("You have the browser")
    live = desk.locator("#live")
    await expect(live).to_be_visible()
    for top, text in ((30, "ann@example.org"), (130, PASSWORD), (230, CODE), (330, "")):
        shown = await live.bounding_box()
        assert shown is not None
        scale = shown["width"] / 1280
        await _press(desk, shown["x"] + 200 * scale, shown["y"] + top * scale)
        await desk.keyboard.type(text)
    await expect(desk.locator("#log")).to_contain_text("Sign in")
    await desk.get_by_role("button", name="Hand back").click()
    for goal in ("wait for", "finish"):
        await expect(desk.locator("#asked-goal")).to_contain_text(goal)
        await desk.locator("#do").click()


async def _press(desk: Page, x: float, y: float) -> None:
    """Presses in the live view, once more where the page says that its picture is old or stands still."""

    def carries_the_press(sent: Response) -> bool:
        return sent.url.endswith("/input") and '"down"' in (sent.request.post_data or "")

    async with asyncio.timeout(120):
        while True:
            async with desk.expect_response(carries_the_press) as answer:
                await desk.mouse.click(x, y)
            if (await answer.value).ok:
                return
            async with desk.expect_response("**/live?*") as picture:  # a person waits for the next one
                pass
            await (await picture.value).finished()
