"""What only navigates is learned from turns, and not read again; what has an effect always is."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.knowledge.navigation_map import PROOFS, NavigationMap
from agent.loop.acting.navigation_seen import navigated
from agent.protocol import ActReviewed, ToolCallRequested
from agent.records import UiNode
from agent.safety.navigation.known_presses import KNOWN_RULE, KnownPresses
from tests.loop.paper_phone import APP, PaperPhone, button, node
from tests.safety.reviewer.reader import OPENS_A_DOOR, Reader, read_by, says
from tests.tasks.context import MemoryContext
from tests.tasks.phones.test_effects_on_a_virtual_phone import END, presses
from tests.tasks.scripted import ScriptedModel, Turn, task
from tests.tasks.scripted import says as calls

VERSIONS = {APP: 7}
BACK = calls("press_button", button="BACK")
ROW: dict[str, object] = {"class_name": "android.view.ViewGroup", "clickable": True}

ICON: dict[str, object] = {"class_name": "android.widget.ImageButton", "clickable": True}


class Home:
    """A list of places that open, a door that opens at once, and pages behind the places."""

    def __init__(self) -> None:
        self.page = "Home"
        self.door = "Locked"
        self.phone = PaperPhone(self.screen, self.on)

    def screen(self) -> Sequence[UiNode]:
        title = node(self.page, (0.1, 0.02, 0.9, 0.08))
        if self.page != "Home":
            return (title, node(f"{self.page} is well", (0.1, 0.3, 0.9, 0.35)))
        return (
            title,
            node(f"Front door | {self.door}", (0, 0.2, 1, 0.26), **ROW),
            node("Cameras", (0, 0.3, 1, 0.36), **ROW),
            node("Garden", (0, 0.4, 1, 0.46), **ROW),
            button("Add", 0.6),
            node("Archive", (0.8, 0.5, 0.95, 0.55), **ICON),
        )

    def on(self, what: str) -> None:
        if what.startswith("tap Front door"):
            self.door = "Open" if self.door == "Locked" else "Locked"
        elif what.startswith("tap "):
            self.page = what.removeprefix("tap ")
        elif "BACK" in what:
            self.page = "Home"


async def run(
    *turns: Turn,
    known: KnownPresses | None = None,
    answer: dict[str, object] | None = None,
    goal: str = "show me the cameras",
    reply: str = "Approve",
    background: bool = False,
) -> MemoryContext:
    reader = Reader(lambda _text: answer or {})
    context = MemoryContext(
        ScriptedModel([*turns, END, END, END]),
        Home().phone,
        goal=goal,
        answer=lambda _question: reply,
        known_presses=known or KnownPresses(VERSIONS),
        background=background,
        **({"reviewing": read_by(reader)} if answer else {}),  # type: ignore[arg-type]
    )
    await task().run(context)
    return context


@pytest.fixture
def kept(tmp_path: Path) -> NavigationMap:
    return NavigationMap(tmp_path, lambda: 1_700_000_000_000)


def reads(context: MemoryContext) -> int:
    return len(context.of(ActReviewed))


async def test_a_press_that_navigated_in_enough_turns_is_not_read_any_more(
    kept: NavigationMap,
) -> None:
    for turn in range(PROOFS + 2):
        known = await kept.known(VERSIONS)
        context = await run(presses("Cameras"), known=known, answer=says())
        assert reads(context) == (turn < PROOFS)
        [call] = [c for c in context.of(ToolCallRequested) if getattr(c, "kind", "") == "action"]
        assert isinstance(call, ToolCallRequested)
        assert (call.rule == KNOWN_RULE) == (turn >= PROOFS)
        await kept.learn(navigated(context.events, VERSIONS))


@pytest.mark.parametrize("background", [False, True])
async def test_a_guess_gives_way_to_what_is_known_but_not_in_a_job(
    kept: NavigationMap, background: bool
) -> None:
    for _ in range(PROOFS):
        context = await run(presses("Archive"), answer=says())
        assert reads(context) == 1
        await kept.learn(navigated(context.events, VERSIONS))
    known = await kept.known(VERSIONS)
    context = await run(presses("Archive"), known=known, answer=says(), background=background)
    assert reads(context) == 0
    [call] = [c for c in context.of(ToolCallRequested) if getattr(c, "kind", "") == "action"]
    assert isinstance(call, ToolCallRequested)
    assert (call.rule == KNOWN_RULE) != background
    assert "own words" in {call.rule, *call.also}


async def test_another_version_begins_with_nothing(kept: NavigationMap) -> None:
    for _ in range(PROOFS):
        context = await run(presses("Cameras"), answer=says())
        await kept.learn(navigated(context.events, VERSIONS))
    assert (await kept.known(VERSIONS)).keys
    assert not (await kept.known({APP: 8})).keys
    assert await kept.forget(APP) == 1
    assert not (await kept.known(VERSIONS)).keys


async def test_what_has_an_effect_is_read_for_ever(kept: NavigationMap) -> None:
    for answer in (OPENS_A_DOOR, *(says() for _ in range(PROOFS + 2))):
        context = await run(presses("Front door"), answer=answer)
        await kept.learn(navigated(context.events, VERSIONS))
    assert not (await kept.known(VERSIONS)).keys
    [app] = await kept.apps()
    assert (app.known, app.with_effect) == (0, 1)


async def test_one_effect_ends_what_was_known(kept: NavigationMap) -> None:
    for _ in range(PROOFS):
        context = await run(presses("Garden"), answer=says())
        await kept.learn(navigated(context.events, VERSIONS))
    assert (await kept.known(VERSIONS)).keys
    context = await run(presses("Garden"), answer=OPENS_A_DOOR)
    await kept.learn(navigated(context.events, VERSIONS))
    assert not (await kept.known(VERSIONS)).keys


async def test_a_door_that_acts_in_place_is_never_learned_where_nobody_reads() -> None:
    context = await run(presses("Front door"), presses("Front door"), goal="open the front door")
    assert not any(one.only for one in navigated(context.events, VERSIONS))


@pytest.mark.parametrize("returns", [False, True])
async def test_where_nobody_reads_the_page_has_to_be_seen_again_as_it_was(returns: bool) -> None:
    turns = (presses("Cameras"), *((BACK,) if returns else ()))
    context = await run(*turns)
    found = navigated(context.events, VERSIONS)
    assert [one.only for one in found] == ([True] if returns else [])


async def test_a_file_that_cannot_be_read_knows_nothing(
    kept: NavigationMap, tmp_path: Path
) -> None:
    (tmp_path / "navigation.sqlite3").write_bytes(b"not a database at all" * 100)
    context = await run(presses("Cameras"), answer=says())
    await kept.learn(navigated(context.events, VERSIONS))
    assert not (await kept.known(VERSIONS)).keys
