"""Which strategy a goal calls for: the first pattern that the goal matches. No task is named."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from second_solver import (
    dates,
    dragging,
    drawing,
    editing,
    fill,
    mail,
    moving,
    posts,
    press,
    shapes,
    sliders,
    tick,
    unfold,
)
from second_solver.player import GivenUp, Player

Strategy = Callable[[Player, "re.Match[str]"], Awaitable[None]]

DATE = r"(?P<date>\d+/\d+/\d+)"
PLANS: tuple[tuple[str, Strategy], ...] = (
    (r"^Click on the numbers in ascending order", press.ascending),
    (r"^Click button (?P<first>\w+), (?:wait (?P<pause>\d+) seconds?, )?then click button (?P<second>\w+)",
     press.two_buttons),
    (r"^Click button (?P<name>\w+)", press.named),
    (r"^Click the button\.", press.only_button),
    (r'^Click on the "(?P<name>.+)" button', press.named),
    (r'^Click on a "(?P<name>\w+)" widget', press.widget),
    (r"^Click the (?P<name>\w+) button", press.cancel),
    (r"dialog box", press.in_dialog),
    (r"^Click on (?P<name>Tab #\d+)", press.named),
    (r"^Click on the (?P<colour>\w+) colored box", press.coloured_box),
    (r"all the shades of (?P<colour>\w+)", press.shades),
    (r"card with the greatest number", press.greatest),
    (r"as odd or even", press.parity),
    (r"^Generate (?:an?) (?:number )?(?P<how>odd|even|greater|less)(?: than (?P<limit>\d+))?", press.generate),
    (r"^Guess the number between (?P<low>\d+)-(?P<high>\d+)", press.guess),
    (r"^Buy the ticket with the (?P<which>shortest|longest|cheapest|most expensive)", press.ticket),
    (r"^Buy \w+ stock when the price is less than \$(?P<limit>[\d.]+\d)", press.stock),
    (r"^Expand the section below and", unfold.fold_and_submit),
    (r"pie menu .*labeled \"(?P<name>.+)\"", unfold.pie),
    (r"find and click on the link|^Click on the link", unfold.link),
    (r'^Click the "Menu" button', unfold.menu_item),
    (r"^Select (?P<path>[^ ]+>[^ ]+)$", unfold.menu_path),
    (r'folder or file named "(?P<name>.+)"', unfold.tree),
    (r"^Find (?P<name>.+) in the contact book and click on their (?P<what>[\w ]+)\.", unfold.contact),
    (r"search result", unfold.search_result),
    (r"^Book the (?P<which>\w+) one-way flight from: (?P<start>.+) to: (?P<end>.+) on " + DATE, dates.flight),
    (r"^Select " + DATE + " as the date", dates.choose),
    (r"^Enter " + DATE + " as the date", fill.date),
    (r"^Enter (?P<hour>\d+):(?P<minute>\d+) (?P<half>[AP]M) as the time", fill.time_of_day),
    (r"^Enter the password .* both", fill.password_twice),
    (r"^Enter the username", fill.login),
    (r"^Focus into", fill.focus),
    (r"^Copy the text", fill.copied),
    (r"^Find the last word", fill.last_word),
    (r"^Find the (?P<number>\d+)\w\w word", fill.nth_word),
    (r"^Type the text below", fill.letters),
    (r"^Solve the math problem", fill.arithmetic),
    (r"^Solve for x", fill.algebra),
    (r"^Enter the value of (?P<row>.+) into", fill.from_table),
    (r"^Enter the value that corresponds with each label", fill.from_table),
    (r"^Search for (?P<genre>\w+) movies directed by (?P<director>.+) from year (?P<year>\d+)", fill.search_form),
    (r'^Enter an item that starts with "(?P<begin>.+?)"(?: and ends with "(?P<end>.+?)")?', fill.autocomplete),
    (r"^Scroll to the bottom of the textarea, enter the name", fill.agreement),
    (r'^(?:Enter|Type) ".*"', fill.text),
    (r"^Select (?P<number>-?\d+) with the slider, click the", sliders.slider_and_tick),
    (r"^Select (?P<number>-?\d+) with the slider", sliders.slider),
    (r"^Select (?P<number>-?\d+) with the spinner", sliders.spinner),
    (r"^Set the sliders to the combination \[(?P<numbers>[\d,-]+)\]", sliders.sliders),
    (r"^Select (?:the following color|(?P<name>\w+)) with the color picker", sliders.colour),
    (r'^For the user (?P<user>@\S+), click on the "(?P<name>.+)" button', posts.one_post),
    (r'^Click the "(?P<name>.+)" button on (?P<count>all|\d+) posts? by (?P<user>@\S+)', posts.some_posts),
    (r"^Order (?:one of each item: (?P<names>.+)|(?P<count>\d+) items that are (?P<kind>.+))", posts.order),
    (r"^Click on an? (?P<words>[\w ]+)$", shapes.click),
    (r"^How many (?P<words>[\w ]+) are there", shapes.count),
    (r"best describes the figure", shapes.identify),
    (r"how many sides", shapes.sides),
    (r"^Draw the number", shapes.copy_drawing),
    (r"^Click on the grid coordinate \((?P<at>[-\d,]+)\)", shapes.coordinate),
    (r"total number of blocks", shapes.blocks),
    (r"bisects the angle", drawing.bisect),
    (r"mid-point between the two points", drawing.midpoint),
    (r"create a right angle", drawing.right_angle),
    (r"center of the circle", drawing.centre),
    (r"^Draw a (?P<way>vertical|horizontal) line", drawing.line),
    (r"^Draw a circle", drawing.circle),
    (r"HOT area", drawing.hot),
    (r"^Drag the smaller box", dragging.box),
    (r"^Drag the (?:circle|item) (?P<way>left|right|up|down)", dragging.one_way),
    (r"^Drag all (?P<what>.+?) into the", dragging.shapes),
    (r"^Drag (?P<name>\S+) (?P<where>to the (?:center|(?:top|bottom) (?:left|right))|(?:up|down|left|right) by one\.)",
     dragging.item_in_grid),
    (r"^Drag (?P<name>\S+) (?P<where>.+)\.", dragging.item),
    (r"^Sort the numbers", dragging.sort),
    (r"^Resize the textarea so that the (?P<side>\w+) is (?P<how>larger|smaller)", dragging.resize),
    (r"^Move the cube", dragging.cube),
    (r"^Keep your mouse inside the circle", moving.chase),
    (r"many moving circles", moving.moving),
    (r"^Push the buttons in the order displayed", moving.simon),
    (r"tic-tac-toe", moving.noughts),
    (r"^Highlight the text", editing.highlight),
    (r"^Using the text editor, (?:give the text (?P<word>\S+)|make everything) the (?P<kind>style|color) "
     r"(?P<value>\w+)", editing.style),
    (r"^Scroll the textarea to the (?P<end>top|bottom)", editing.scroll),
    (r"terminal below to delete a file (?:ending with the extension (?P<ending>\S+)|that has no)", editing.terminal),
    (r'^Create a (?P<length>[\d.]+) (?P<unit>mins|hours?) event named ".+", between (?P<start>\d+)(?P<half>[AP]M)',
     editing.event),
    (r"^Select words similar to (?P<names>.+) and click Submit", tick.similar),
    (r"^Select (?P<names>.+) from the (?:scroll )?list", tick.from_list),
    (r"^Select (?P<names>.+) and click Submit", tick.listed),
    (r"^Check the .* radio button and enter the number", tick.radio_and_number),
    (r'^Choose (?P<option>.+) from the dropdown, then click the button labeled "(?P<button>.+)"',
     tick.dropdown_and_button),
    (r"(?i)\b(e-?mails?|mail|messages?)\b", mail.handle),
)  # fmt: skip


async def follow(p: Player) -> None:
    """Carries out the strategy that the goal calls for.

    Raises:
        GivenUp: no strategy fits, or it cannot go on.
    """
    for pattern, strategy in PLANS:
        if match := re.search(pattern, p.goal):
            return await strategy(p, match)
    raise GivenUp("no strategy fits the goal")
