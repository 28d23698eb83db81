"""A stored session as a page, as a film, and beside another one."""

import re
from io import BytesIO
from pathlib import Path

import av
import pytest
from PIL import Image, ImageSequence

from agent.errors import StoreError, UsageError
from agent.protocol import ObservationRecorded, SessionConfigured, StepStarted
from agent.records import Foreground, Frame, Observation, Session
from console.report.movie import Film, write_movie
from console.report.page import write_report
from console.report.parting import compare
from console.report.parting_words import parting_lines
from console.report.recorded import read_recorded
from tests.console.fakes import FakeCore
from tests.console.script import configure, evening, run, step
from tests.pictures import claiming

HOSTILE = "</pre><script>alert(1)</script>\x1b]52;c;AAAA\x07<img src=x onerror=y>"


def png(shade: int) -> bytes:
    out = BytesIO()
    Image.new("RGB", (108, 240), (shade, 80, 120)).save(out, "PNG")
    return out.getvalue()


def filmed(core: FakeCore, session_id: str, frames: int, goal: str = "Look around") -> None:
    """Play a session of steps that each saw a frame."""
    session = Session(session_id=session_id, goal=goal, created_ms=core.now_ms)
    core.tell(SessionConfigured(session=session), session_id)
    for number in range(1, frames + 1):
        digest = f"{session_id}-{number}"
        core.blobs[digest] = png(number * 40)
        core.tell(StepStarted(step=number), session_id)
        frame = Frame(digest=digest, width_px=108, height_px=240, captured_ms=core.now_ms)
        seen = Observation(
            started_ms=core.now_ms,
            ended_ms=core.now_ms,
            foreground=Foreground(package="org.example"),
            frame=frame,
        )
        core.tell(ObservationRecorded(step=number, observation=seen), session_id)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def unheard(_done: int, _total: int) -> None:
    """Nobody listens to the progress."""


async def test_the_page_stands_by_itself_and_runs_nothing(tmp_path: Path) -> None:
    core = FakeCore()
    evening(core)
    filmed(core, "f1", 3, goal=HOSTILE)
    told: list[tuple[int, int]] = []
    done = await write_report(
        core, "f1", tmp_path / "f1.html", told=lambda n, of: told.append((n, of))
    )
    assert (done.steps, done.frames, done.missing) == (3, 3, 0)
    assert told == [(1, 3), (2, 3), (3, 3)]
    page = (tmp_path / "f1.html").read_text("utf-8")
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert "\x1b" not in page
    assert "onerror=y&gt;" in page
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert page.count("data:image/jpeg;base64,") == 3
    assert names(tmp_path) == ["f1.html"]


async def test_a_goal_that_is_the_title_is_written_once(tmp_path: Path) -> None:
    core = FakeCore()
    filmed(core, "f1", 1, goal="open the door")
    filmed(core, "f2", 1, goal="word " * 60)
    for one, times in (("f1", 1), ("f2", 2)):
        await write_report(core, one, tmp_path / f"{one}.html", told=unheard)
        body = (tmp_path / f"{one}.html").read_text("utf-8").partition("<body>")[2]
        told = "open the door" if one == "f1" else "word word word"
        head = body.partition("state")[0]
        assert len(re.findall(f"<(?:h1|p class=dim)>{told}", head)) == times


async def test_the_page_has_plots_of_time_and_money(tmp_path: Path) -> None:
    core = FakeCore()
    evening(core)
    await write_report(core, "s1", tmp_path / "s1.html", told=unheard)
    page = (tmp_path / "s1.html").read_text("utf-8")
    assert page.count("<svg") == 2
    assert "Dollars spent" in page
    assert "Bluetooth is on now" in page


async def test_a_frame_that_is_gone_is_said_to_be_gone(tmp_path: Path) -> None:
    core = FakeCore()
    filmed(core, "f1", 2)
    del core.blobs["f1-2"]
    done = await write_report(core, "f1", tmp_path / "f1.html", told=unheard)
    assert (done.frames, done.missing) == (1, 1)
    assert "frame gone" in (tmp_path / "f1.html").read_text("utf-8")


@pytest.mark.parametrize(("across", "down"), [(1, 60_000), (20_000, 20_000)])
async def test_a_frame_that_says_it_is_gigabytes_is_gone_too(
    tmp_path: Path, across: int, down: int
) -> None:
    core = FakeCore()
    filmed(core, "s1", 2)
    core.blobs["s1-1"] = claiming(across, down)
    done = await write_report(core, "s1", tmp_path / "s.html", told=unheard)
    assert (done.frames, done.missing) == (1, 1)


@pytest.mark.parametrize("film", list(Film))
async def test_a_film_has_the_frames_in_their_order(tmp_path: Path, film: Film) -> None:
    core = FakeCore()
    filmed(core, "f1", 3)
    place = tmp_path / f"f1.{film.value}"
    done = await write_movie(core, "f1", place, film=film, told=unheard)
    assert (done.frames, done.missing) == (3, 0)
    if film is Film.GIF:
        with Image.open(place) as image:
            each = [frame.convert("RGB") for frame in ImageSequence.Iterator(image)]
        shades = [frame.tobytes()[(100 * frame.width + 100) * 3] for frame in each]
        assert len(shades) == 3
    else:
        with av.open(str(place)) as container:
            decoded = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        shades = [int(frame[100, 100, 0]) for frame in decoded]
        assert len(decoded) > 3
    assert shades == sorted(shades)
    assert shades[-1] - shades[0] > 60


async def test_a_session_without_frames_makes_no_film_and_leaves_nothing(tmp_path: Path) -> None:
    core = FakeCore()
    evening(core)
    with pytest.raises(UsageError, match="no frames") as refused:
        await write_movie(core, "s1", tmp_path / "x.mp4", film=Film.MP4, told=unheard)
    session = core.state.sessions["s1"].session
    assert f"“{session.title or session.goal}”" in refused.value.message
    filmed(core, "f1", 1)
    core.blobs["f1-1"] = b"no picture"
    with pytest.raises(StoreError, match="cannot be decoded"):
        await write_movie(core, "f1", tmp_path / "x.gif", film=Film.GIF, told=unheard)
    assert names(tmp_path) == []


async def test_two_sessions_part_at_the_first_different_deed() -> None:
    core = FakeCore()
    for session_id in ("a", "b", "c"):
        configure(core, session_id, "Turn on Bluetooth")
        run(core, session_id)
        step(core, session_id, 1, tool="launch_app", arguments='{"package": "x"}')
        step(core, session_id, 2, arguments='{"element": 2, "expected": "' + session_id + '"}')
    step(core, "b", 3, tool="press_button", arguments='{"button": "BACK"}')
    a, b, c = [await read_recorded(core, one) for one in "abc"]
    assert compare(a, c).is_same
    parting = compare(a, b)
    assert (parting.at, parting.is_same) == (2, False)
    lines = parting_lines(a, b, parting)
    assert "Identical for 2 actions" in lines[1]
    assert any("< no more actions" in line for line in lines)
    assert any("> step 3: Press BACK" in line for line in lines)
