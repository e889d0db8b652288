"""Solvers for posts, results, contacts and dishes: find one of many similar ones and click in it."""

from __future__ import annotations

from vision_agent.evals.miniwob_solvers.asked import match_groups, ordinal, quotes
from vision_agent.evals.miniwob_solvers.episode import Called, Episode, On

_DIRECT = ("Reply", "Retweet", "Like", "Share")

_DISHES = """Array.from(document.querySelectorAll('.food-item'), each => ({
    name: each.dataset.item, kinds: Array.from(each.querySelectorAll('img'), icon => icon.alt) }))"""


async def social_media(episode: Episode) -> None:
    """For the user @kenda, click on the "Like" button."""
    (user,) = match_groups(r"the user (\S+),", episode.asked)
    (button,) = quotes(episode.asked)
    post = (await episode.texts(".username")).index(user)
    if button in _DIRECT:
        await episode.click(On(f".{button.lower()}", place=post))
        return
    await episode.click(On(".more", place=post))
    item = f"{button} {user}" if button in ("Mute", "Block") else button
    await episode.click(On("#area li", item))


async def social_media_all(episode: Episode) -> None:
    """Click the "Like" button on all posts by @lacus and then click Submit. Or on 2 of them."""
    (button,) = quotes(episode.asked)
    how_many, user = match_groups(r"on (all|\d+) posts? by (\S+) and", episode.asked)
    posts = [place for place, each in enumerate(await episode.texts(".username")) if each == user]
    for post in posts if how_many == "all" else posts[: int(how_many)]:
        await episode.click(On(f".{button.lower()}", place=post))
    await episode.click(On("#submitRow button"))


async def order_food(episode: Episode) -> None:
    """Order one of each item: Garlic bread, Cheese wheel. Or 3 items that are vegan."""
    items = await episode.read(_DISHES)
    if "one of each" in episode.asked:
        (names,) = match_groups(r"one of each item: (.+)", episode.asked)
        wanted = [place for place, item in enumerate(items) if item["name"].strip() in names.split(", ")]
    else:
        count, kind = match_groups(r"Order (\d+) items that are (\S+)", episode.asked)
        wanted = [next(place for place, item in enumerate(items) if kind in item["kinds"])] * int(count)
    for which in wanted:
        await episode.click(On(".food-item .add", place=which))
    await episode.click(On("#submit-order button"))


async def phone_book(episode: Episode) -> None:
    """Find Clementine in the contact book and click on their phone number."""
    name, detail = match_groups(
        r"Find (\S+) in the contact book and click on their (phone|email|address)", episode.asked
    )
    while await episode.text("#contact .name") != name:
        await episode.click(Called(">", tag="a"))
    await episode.click(On(f"#contact .{detail}"))


async def search_engine(episode: Episode) -> None:
    """Use the textbox to enter "Jerald" and press "Search", then find and click the 9th search result."""
    await episode.type(quotes(episode.asked)[0], On("#search-text"))
    await episode.click(Called("Search", tag="button"))
    page, which = divmod(ordinal(episode.asked, "search result"), 3)
    if page > 0:
        await episode.click(On("#pagination a", str(page + 1)))
    await episode.click(On("#page-content a", place=which))
