"""Claims about films of runs: what they show and say, that a browser plays them, and what cannot be written."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageFont
from playwright.async_api import Page
from record_builder import MARKS, PAGE, done, limited_run, observation, run, small_run, step_events, story, write_run

from tests.conftest import Server
from vision_agent.actions import Click, Finish, Wait
from vision_agent.errors import UsageError
from vision_agent.events import Ended, Started
from vision_agent.export.animation import require_film_name, write_animation
from vision_agent.types import Ending

BAR = 60
"""The height of the caption."""


@pytest.mark.parametrize("name", ["run.webp", "run.gif"])
def test_a_run_becomes_an_animated_picture(name: str, tmp_path: Path) -> None:
    folder = write_run(tmp_path, story()).path
    with Image.open(write_animation(folder, tmp_path / name)) as film:
        assert (film.size, getattr(film, "n_frames", 0)) == ((PAGE.width, PAGE.height + BAR), 4)
    assert not (tmp_path / "run.vtt").exists()


PLAYED = """async ([name, x, y]) => {
  const file = await (await fetch(`/${name}`)).blob();
  const video = document.createElement('video');
  video.muted = true;
  const track = document.createElement('track');
  Object.assign(track, {kind: 'captions', src: '/run.vtt', default: true});
  video.append(track);
  video.src = URL.createObjectURL(file);
  document.body.append(video);
  const loads = [video, track].map((each) => new Promise((done, failed) => {
    each.addEventListener(each === video ? 'loadeddata' : 'load', done);
    each.addEventListener('error', () => failed(new Error(video.error?.message ?? 'no captions')));
  }));
  video.load();
  track.track.mode = 'showing';
  await Promise.all(loads);
  const canvas = Object.assign(document.createElement('canvas'), {width: video.videoWidth, height: video.videoHeight});
  const pen = canvas.getContext('2d', {willReadFrequently: true});
  const shown = [];
  for (const at of [0.2, 2.2]) {
    const sought = new Promise((done) => { video.onseeked = done; });
    video.currentTime = at;
    await sought;
    pen.clearRect(0, 0, canvas.width, canvas.height);
    do {  // on a busy machine the frame is decoded later
      await new Promise(requestAnimationFrame);
      pen.drawImage(video, 0, 0);
    } while (pen.getImageData(x, y, 1, 1).data[3] === 0);
    shown.push([[x, y], [4, canvas.height - 4]].map((each) => [...pen.getImageData(...each, 1, 1).data]));
  }
  const captions = [...track.track.cues].map((each) => [each.startTime, each.endTime, each.getCueAsHTML().textContent]);
  return {size: [video.videoWidth, video.videoHeight], seconds: video.duration, shown, captions};
}"""


@pytest.mark.parametrize("name", ["run.webm", "run.mp4"])
async def test_a_browser_plays_the_video_of_a_run_with_its_captions(
    name: str, page: Page, serve: Server, tmp_path: Path
) -> None:
    folder = write_run(tmp_path, small_run()).path
    (tmp_path / "site").mkdir()
    write_animation(folder, tmp_path / "site" / name)
    await page.goto(serve.folder(tmp_path / "site"))
    button = MARKS[-1].box
    film = await page.evaluate(PLAYED, [name, button.x - 4, button.center.y])
    assert film["size"] == [PAGE.width, PAGE.height + BAR]
    assert film["seconds"] == pytest.approx(5.5, abs=0.3)
    (aim, bar), (other, same_bar) = film["shown"]
    assert max(bar[:3] + same_bar[:3]) < 60
    assert aim[0] > 150 > max(aim[1:3])  # around the button, in the step that clicks it
    assert min(other[:3]) > 200
    assert film["captions"] == [
        [0, 2, '1/2 Click [5] “Add to cart”\nClicked 5 (button "Add to cart").'],
        [2, 5.5, "2/2 Finish: done\nFinished."],
    ]


def test_the_page_at_the_end_is_the_last_picture_and_says_how_the_run_ended(tmp_path: Path) -> None:
    folder = write_run(tmp_path, limited_run()).path
    write_animation(folder, tmp_path / "run.webm")
    said = (tmp_path / "run.vtt").read_text("utf-8")
    assert said.endswith("At the end\nA limit was reached: 6 steps were taken.\n")
    assert said.count("-->") == 7


def test_a_step_that_failed_says_what_was_not_done_and_why(tmp_path: Path) -> None:
    failed = done("The text did not come.", status="refused", refusal="timed_out", effect=None, point=None)
    ended = Ended(ending=Ending(status="not_done", sentence="Not done."))
    events = [Started(run=run()), *step_events(1, (Wait(text="Sent", seconds=3), failed)), ended]
    write_animation(write_run(tmp_path, events).path, tmp_path / "run.webm")
    caption = (tmp_path / "run.vtt").read_text("utf-8").rstrip().split("\n\n")[1].splitlines()[1:]
    assert caption[0].startswith("1/1 Not done: Wait")
    assert "Sent" in caption[0]
    assert caption[1] == "The text did not come."


def test_no_text_of_a_page_forges_a_caption(tmp_path: Path) -> None:
    forged = "Clicked.\n\n00:00:00.000 --> 00:00:09.000\n<v Bank>Approved & paid"
    events = [
        Started(run=run()),
        *step_events(1, (Click(target=5), done(forged))),
        *step_events(2, (Finish(answer="-->"), done("Finished."))),
        Ended(ending=Ending(status="done", sentence="Done.")),
    ]
    write_animation(write_run(tmp_path, events).path, tmp_path / "run.webm")
    cues = (tmp_path / "run.vtt").read_text("utf-8").rstrip().split("\n\n")[1:]
    assert [each.count("\n") for each in cues] == [2, 2]
    assert all(each.count("-->") == 1 for each in cues)
    assert "&lt;v Bank&gt;Approved &amp; paid" in cues[0]


def test_a_caption_in_another_script_is_not_drawn_as_boxes(tmp_path: Path) -> None:
    """Of two letters, so that what is drawn for a missing one would be drawn twice."""
    try:
        ImageFont.truetype("DejaVuSans.ttf")
    except OSError:
        pytest.skip("this system has no font with these letters")
    found = []
    for number, letter in enumerate("ЖЩ"):
        seen = observation(marks=(MARKS[-1].model_copy(update={"name": letter}),))
        events = [Started(run=run()), *step_events(1, (Click(target=5), done(letter)), seen=seen)]
        film = write_animation(write_run(tmp_path / str(number), events).path, tmp_path / f"{number}.gif")
        with Image.open(film) as image:
            found.append(image.convert("L").crop((0, PAGE.height + BAR // 2, PAGE.width, PAGE.height + BAR)).tobytes())
    assert found[0] != found[1]


def test_a_film_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    folder = write_run(tmp_path, story()).path
    with pytest.raises(UsageError, match=r"'run\.avi' is not a supported film format"):
        write_animation(folder, tmp_path / "run.avi")
    with pytest.raises(UsageError, match="cannot be written: No such file or directory"):
        write_animation(folder, tmp_path / "missing" / "run.webm")
    empty = write_run(tmp_path / "empty", [Started(run=run())]).path
    with pytest.raises(UsageError, match="has no steps to show"):
        write_animation(empty, tmp_path / "run.webm")
    assert not list(tmp_path.glob("run.*"))
    (tmp_path / "talk.vtt").write_text("WEBVTT")
    with pytest.raises(UsageError, match=r"talk\.vtt is there already"):
        write_animation(folder, tmp_path / "talk.webm")
    assert (tmp_path / "talk.vtt").read_text() == "WEBVTT"
    assert not (tmp_path / "talk.webm").exists()
    for _ in range(2):  # a film and its captions may be written again
        write_animation(folder, tmp_path / "again.webm")


def test_a_film_in_another_format_shares_the_captions_of_the_same_run_only(tmp_path: Path) -> None:
    folder, other = write_run(tmp_path / "one", small_run()).path, write_run(tmp_path / "two", story()).path
    write_animation(folder, tmp_path / "run.webm")
    captions = (tmp_path / "run.vtt").read_bytes()
    with pytest.raises(UsageError, match=r"run\.vtt is there already"):
        write_animation(other, tmp_path / "run.mp4")
    assert not (tmp_path / "run.mp4").exists()
    write_animation(folder, tmp_path / "run.mp4")
    with pytest.raises(UsageError, match=r"run\.vtt is there already"):
        write_animation(other, tmp_path / "run.webm")  # its captions are also those of the other film
    with pytest.raises(UsageError, match=r"run\.vtt is there already"):
        require_film_name(tmp_path / "run.mp4")
    assert (tmp_path / "run.vtt").read_bytes() == captions
