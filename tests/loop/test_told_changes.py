"""What a result says is not said again above the screen, and nothing else is lost."""

import itertools

import pytest

from agent.loop.conversation.told_changes import untold_change
from agent.loop.screen.changes import NO_CHANGE, describe_change
from agent.loop.screen.verify import verify_button, verify_click, verify_launch, verify_typing
from agent.records import Observation, UiNode
from tests.loop.paper_phone import button, field, node
from tests.loop.test_changes import seen

HOME = (button("Go", 0.1), field("Name", 0.2), field("Town", 0.3), button("Save", 0.4))
SCREENS: tuple[Observation, ...] = (
    seen(*HOME),
    seen(*HOME, toast="Kept"),
    seen(*HOME, keyboard=True),
    seen(*HOME, activity="org.a.Next"),
    seen(*HOME, activity="org.a.Next", toast="Kept"),
    seen(*HOME, package="org.b", activity="org.b.Main"),
    seen(button("Go", 0.1), field("Name", 0.2, "Ada"), field("Town", 0.3), button("Save", 0.4)),
    seen(button("Go", 0.1, enabled=False), *HOME[1:]),
    seen(*HOME[:2], field("Town", 0.3, "Bern"), button("Save", 0.4, enabled=False)),
    seen(*HOME[:3]),
    seen(*HOME, *(node(f"row {n}", (0.1, 0.5 + n / 30, 0.9, 0.52 + n / 30)) for n in range(3))),
)
PAIRS = list(itertools.permutations(SCREENS, 2))


def quoted(text: str) -> set[str]:
    return set(text.split('"')[1::2])


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_nothing_is_said_twice_and_nothing_is_lost(before: Observation, after: Observation) -> None:
    pressed = before.elements[0]
    for result in (
        verify_click('Clicked [1] "Go"', before, after, pressed),
        verify_button("Pressed BACK", before, after),
        verify_launch("Launched", after.foreground.package, after),
    ):
        untold = untold_change(before, after, result)
        whole = describe_change(before, after)
        for sentence in filter(None, untold.split(". ")):
            assert sentence.rstrip(".") not in result
        # What came is marked on the screen itself.
        marked = {e.label for e in after.elements} - {e.label for e in before.elements}
        assert quoted(whole) - quoted(untold) - quoted(result) - marked == set()
        if whole == NO_CHANGE:
            assert untold == ("" if "nothing on the screen changed" in result else NO_CHANGE)
        for page in ("NEW SCREEN", "NEW APP"):
            if page in whole:
                assert (page in untold) != (page in result or "is in front" in result)


def typed(text: str, *more: UiNode) -> tuple[str, str]:
    before = seen(*HOME)
    after = seen(HOME[0], field("Name", 0.2, text, focused=True), *HOME[2:], *more, keyboard=True)
    result = verify_typing(f'Typed "{text}" into "Name"', text, before.elements[1], before, after)
    return result, untold_change(before, after, result)


def test_what_was_typed_is_said_by_the_result_alone() -> None:
    result, untold = typed("Ada")
    assert result == 'OK: Typed "Ada" into "Name". The field now holds it.'
    assert untold == "The keyboard opened."


def test_what_typing_did_elsewhere_is_said() -> None:
    _, untold = typed("Ada", node("Did you mean Eda?", (0.1, 0.5, 0.9, 0.55)))
    assert "Did you mean Eda?" in untold


def test_without_a_result_the_whole_change_is_said() -> None:
    before, after = SCREENS[0], SCREENS[3]
    whole = describe_change(before, after)
    assert untold_change(before, after, "OK: Clicked.") == whole
