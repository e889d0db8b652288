"""Solvers for typing: into one field, into the right one of several, or after reading or calculating the text."""

from __future__ import annotations

from vision_agent.evals.miniwob_solvers.asked import match_groups, ordinal, quotes
from vision_agent.evals.miniwob_solvers.episode import Episode, On

_LABELS = """Array.from(document.querySelectorAll('#area input'), each =>
    each.parentElement.textContent.trim() || each.parentElement.parentElement.textContent)"""


async def enter_text(episode: Episode) -> None:
    """Enter "Sergio" into the text field and press Submit."""
    (text,) = quotes(episode.asked)
    await _answer(episode, text)


async def enter_text_2(episode: Episode) -> None:
    """Type "sergio" in all upper case letters in the text input and press Submit."""
    (text,) = quotes(episode.asked)
    await _answer(episode, text.upper() if "upper case" in episode.asked else text.lower())


async def enter_password(episode: Episode) -> None:
    """Enter the password "Q3h" into both text fields and press submit."""
    (password,) = quotes(episode.asked)
    await episode.type(password, On("#password"))
    await episode.type(password, On("#verify"))
    await episode.submit()


async def login_user(episode: Episode) -> None:
    """Enter the username "keli" and the password "3hI" into the text fields and press login."""
    for field, text in zip(("#username", "#password"), quotes(episode.asked), strict=True):
        await episode.click(On(field))
        if await episode.read("document.querySelector('#popup') !== null"):
            await episode.click(On("#popup-cancel"))
        await episode.type(text, On(field))
    await episode.click(On("#subbtn"))


async def focus_text(episode: Episode) -> None:
    """Focus into the 3rd input textbox. Or into the only one."""
    await episode.click(On("#area input", place=ordinal(episode.asked, "input") if "input" in episode.asked else None))


async def enter_date(episode: Episode) -> None:
    """Enter 09/10/2012 as the date and hit submit."""
    month, day, year = match_groups(r"(\d+)/(\d+)/(\d+)", episode.asked)
    await episode.set(f"{year}-{month}-{day}", of=On("#tt"))
    await episode.submit()


async def enter_time(episode: Episode) -> None:
    """Enter 8:22 AM as the time and press submit."""
    hour, minute, half = match_groups(r"(\d+):(\d+)\s?([AP]M)", episode.asked)
    await episode.set(f"{int(hour) % 12 + (12 if half == 'PM' else 0):02}:{minute}", of=On("#tt"))
    await episode.submit()


async def find_word(episode: Episode) -> None:
    """Find the 4th word in the paragraph, type that into the textbox and press "Submit"."""
    words = (await episode.text("#area p")).split()
    await _answer(episode, words[ordinal(episode.asked, "word")])


async def copy_paste(episode: Episode) -> None:
    """Copy the text from the 2nd text area below and paste it into the text input, then press Submit."""
    which = ordinal(episode.asked, "text area") if "text area" in episode.asked else None
    await episode.press("ControlOrMeta+a", On("textarea", place=which))
    await episode.press("ControlOrMeta+c")
    await episode.press("ControlOrMeta+v", On("#answer-input"))
    await episode.submit()


async def scroll_text(episode: Episode) -> None:
    """Find the last word in the text area, enter it into the text field and hit Submit."""
    text = await episode.read("document.querySelector('#text-area').value")
    await episode.type(text.split()[-1], On("#answer-input"))
    await episode.submit()


async def text_transform(episode: Episode) -> None:
    """Type the text below into the text field and press Submit."""
    await _answer(episode, await episode.text("#captcha"))


async def simple_algebra(episode: Episode) -> None:
    """Solve for x and type your answer into the textbox. Press Submit when done."""
    one, sign, other, result = (
        (await episode.read("document.querySelector('#math-problem').textContent")).replace("=", "").split()
    )
    if one == "x":
        answer = int(result) - int(other) if sign == "+" else int(result) + int(other)
    else:
        answer = int(result) - int(one) if sign == "+" else int(one) - int(result)
    await _answer(episode, str(answer))


async def simple_arithmetic(episode: Episode) -> None:
    """Solve the math problem and type your answer into the textbox. Press submit when done."""
    left, sign, right = (await episode.text("#math-problem")).removesuffix("=").split()
    one, other = int(left), int(right)
    await _answer(episode, str({"+": one + other, "-": one - other, "x": one * other}[sign]))


async def visual_addition(episode: Episode) -> None:
    """Type the total number of blocks into the textbox and press Submit."""
    await _answer(episode, str(len(await episode.boxes(".addition-block"))))


async def guess_number(episode: Episode) -> None:
    """Guess the number between 0-9 and press Submit. Use the feedback below to find the right number."""
    least, most = 0, 9
    while not await episode.is_over():
        guess = (least + most) // 2
        await _answer(episode, str(guess))
        (higher,) = await episode.boxes("#higher")
        least, most = (guess + 1, most) if higher.height > 0 else (least, guess - 1)


async def read_table(episode: Episode) -> None:
    """Enter the value of Gender into the text field and press Submit."""
    (key,) = match_groups(r"value of (.+) into", episode.asked)
    await _answer(episode, (await _table(episode))[key])


async def read_table_2(episode: Episode) -> None:
    """Enter the value that corresponds with each label into the form and submit when done."""
    values = await _table(episode)
    for place, label in enumerate(await episode.texts("#form label")):
        await episode.type(values[label.removesuffix(":")], On("#form input", place=place))
    await episode.submit()


async def multi_layouts(episode: Episode) -> None:
    """Search for drama movies directed by Holloway from year 2011."""
    genre, director, year = match_groups(r"for (\w+) movies directed by (.+) from year (\d+)", episode.asked)
    labels = await episode.read(_LABELS)
    for place, label in enumerate(labels):
        text = genre if "Genre" in label else director if "Director" in label else year
        await episode.type(text, On("#area input", place=place))
    await episode.click(On("#area button, #area .final, #area .ui-submit"))


async def terminal(episode: Episode) -> None:
    """Use the terminal below to delete a file ending with the extension .png. Or one that has none."""
    files: list[str] = await episode.read("currentFiles")
    if "no file extension" in episode.asked:
        name = next(each for each in files if "." not in each)
    else:
        (extension,) = match_groups(r"the extension \.(\S+)", episode.asked)
        name = next(each for each in files if each.endswith(f".{extension}"))
    await episode.click(On("#terminal"))
    for key in f"rm {name}":
        await episode.press("Space" if key == " " else key)
    await episode.press("Enter")


async def _answer(episode: Episode, text: str) -> None:
    await episode.type(text, On("#area input"))
    await episode.submit()


async def _table(episode: Episode) -> dict[str, str]:
    cells = await episode.texts("#tab td")
    return dict(zip(cells[::2], cells[1::2], strict=True))
