"""CONTRACTS 5.2: what a conversation forgets; the vectors of chapter 7 named "masking"."""

import pytest
from msgspec.structs import replace

from agent.loop.conversation.brief import brief_of
from agent.loop.conversation.masking import (
    AGAIN,
    BLOCK,
    KEEP_TURNS,
    estimate_tokens,
    fit,
    is_masked,
    mask,
)
from agent.models.model import Message, MessageKind, Role, ToolCall
from agent.records import Bounds, Element, Foreground, Observation

SCREEN = (
    "Steps left: 3\n\n## Screen State\nPackage: org.a\nScreen: Main\n"
    '[1] text: "Hello"\n[2] btn: "Go {n}"'
)


def turn(n: int) -> list[Message]:
    call = ToolCall(call_id=f"c{n}", name="click_element", arguments='{"element":2}')
    brief = f'[Screen: org.a/Main, "Hello", "Go {n}"]'
    text = SCREEN.format(n=n)
    return [
        Message(role=Role.USER, kind=MessageKind.OBSERVATION, text=text, brief=brief),
        Message(role=Role.ASSISTANT, kind=MessageKind.REPLY, tool_calls=(call,)),
        Message(role=Role.TOOL, kind=MessageKind.RESULT, text=f"OK: {n}", call_id=f"c{n}"),
    ]


def turns(count: int) -> list[Message]:
    return [message for n in range(1, count + 1) for message in turn(n)]


def screens(messages: list[Message]) -> list[str]:
    return [m.text for m in messages if m.kind is MessageKind.OBSERVATION]


def test_masking_of_five_turns_shortens_only_the_first() -> None:
    masked = screens(mask(turns(5)))
    assert masked[0] == '[Screen: org.a/Main, "Hello", "Go 1"]'
    assert masked[1:] == [SCREEN.format(n=n) for n in range(2, 6)]


@pytest.mark.parametrize(("count", "old"), [(4, 0), (11, 0), (12, 8), (19, 8), (20, 16)])
def test_screens_grow_old_in_blocks_of_eight(count: int, old: int) -> None:
    masked = [is_masked(m) for m in fit(turns(count)) if m.kind is MessageKind.OBSERVATION]
    assert masked == [True] * old + [False] * (count - old)


def test_the_conversation_breaks_once_in_six_turns() -> None:
    conversation: list[Message] = []
    breaks = 0
    for n in range(1, 41):
        before = conversation
        conversation = fit([*before, *turn(n)])
        breaks += conversation[: len(before)] != before
    assert breaks == (40 - KEEP_TURNS) // BLOCK


def test_a_screen_that_was_looked_at_again_is_whole_once_and_counts_once() -> None:
    again = [m for n in range(1, 6) for m in (*turn(n), *turn(n))]
    fresh = [replace(m, text=m.text.replace('"Go 5"', '"Go 5" <-- NEW')) for m in again[-6:-3]]
    masked = screens(mask([*again[:-6], *fresh, *again[-3:]]))
    assert masked[:2] == ['[Screen: org.a/Main, "Hello", "Go 1"]', AGAIN]
    assert masked[2:8] == [said for n in (2, 3, 4) for said in (SCREEN.format(n=n), AGAIN)]
    # The newest is never told as the same as before: it is what is acted on.
    assert masked[8:] == [
        SCREEN.format(n=5).replace('"Go 5"', '"Go 5" <-- NEW'),
        SCREEN.format(n=5),
    ]
    assert mask(mask(again)) == mask(again)


def test_a_screen_of_which_only_the_picture_changed_is_not_the_same_as_before() -> None:
    change = "\nChange: PICTURE_CHANGED: The picture changed, no element did.\n\n## Screen State"
    game = [m for _ in range(3) for m in turn(1)]
    game = [replace(m, text=m.text.replace("\n\n## Screen State", change)) for m in game]
    assert AGAIN not in screens(mask(game))
    assert screens(mask([*turn(1), *turn(1), *turn(1)]))[1] == AGAIN


def test_masking_leaves_calls_and_results_untouched() -> None:
    def others(messages: list[Message]) -> list[Message]:
        return [m for m in messages if m.kind is not MessageKind.OBSERVATION]

    assert others(mask(turns(9))) == others(turns(9))


def test_masking_twice_changes_nothing() -> None:
    assert fit(fit(turns(9))) == fit(turns(9))


def test_masking_goes_by_kind_so_hints_in_between_shift_nothing() -> None:
    hint = Message(role=Role.USER, kind=MessageKind.STEER, text="Try below.")
    hinted = [*turns(2), hint, hint, hint, *turns(5)[6:]]
    masked = [text.startswith("[Screen:") for text in screens(mask(hinted))]
    assert masked == [True, False, False, False, False]


def test_only_the_newest_screen_keeps_its_picture() -> None:
    pictured = [replace(turn(1)[0], image=b"x") for _ in range(3)]
    assert [m.image for m in mask(pictured)] == [None, None, b"x"]


def test_a_conversation_over_its_budget_keeps_two_screens() -> None:
    long = [replace(turn(n)[0], text=f"{SCREEN}{n}" + "x" * 20_000) for n in range(5)]
    assert estimate_tokens(long) > 12_000
    kept = [not is_masked(m) for m in fit(long, 12_000)]
    assert kept == [False, False, True, True, True]
    assert fit(long) == long


def test_letters_of_other_scripts_count_for_what_they_cost() -> None:
    def tokens(text: str) -> int:
        return estimate_tokens([Message(role=Role.USER, kind=MessageKind.GOAL, text=text)])

    assert tokens("設定を開いて" * 100) > 2 * tokens("abcdef" * 100)


def element(label: str, number: int, **more: object) -> Element:
    fields: dict[str, object] = {
        "number": number,
        "key": label,
        "kind": "text",
        "class_name": "android.widget.TextView",
        "bounds": Bounds(left=0, top=0, right=1, bottom=1),
        **more,
    }
    return Element(label=label, **fields)  # type: ignore[arg-type]


def test_an_old_screen_keeps_its_title_values_and_switches() -> None:
    rows = [element(f"Row {n}", n) for n in range(2, 30)]
    seen = Observation(
        started_ms=1,
        ended_ms=2,
        foreground=Foreground(package="org.a", activity="org.a.SubSettings"),
        elements=(
            element("Display", 1),
            *rows,
            element("Dark theme", 30, checkable=True, checked=True),
            element("Adaptive brightness", 31, checkable=True),
            element('Name of "it"', 32, value="Ada's phone"),
        ),
    )
    line = brief_of(seen)
    assert line.startswith('[Screen: org.a/SubSettings, "Display", "Row 2"')
    assert '"Dark theme" CHECKED, "Adaptive brightness" UNCHECKED' in line
    assert '"Name of \'it\'" = "Ada\'s phone"' in line
    assert line.endswith("and 23 more]")


def page(*labels: str, activity: str = "org.a.Form") -> Observation:
    return Observation(
        started_ms=1,
        ended_ms=2,
        foreground=Foreground(package="org.a", activity=activity),
        elements=tuple(element(label, n) for n, label in enumerate(labels, start=1)),
    )


def test_an_old_screen_of_a_page_that_was_shown_before_tells_what_is_new() -> None:
    long = [f"A row with a rather long label {n}" for n in range(6)]
    before = page(*long)
    assert brief_of(page(*long), before) == "[Screen: org.a/Form again]"
    assert brief_of(page(*long[1:], "Sent"), before) == (
        '[Screen: org.a/Form again, now "Sent", gone "A row with a rather long label 0"]'
    )
    # Where nearly all is new, the page is told of as one that was never shown.
    other = page(*(f"Something else {n}" for n in range(6)))
    assert brief_of(other, before) == brief_of(other)
