"""CONTRACTS 5.2: what a conversation forgets; the vectors of chapter 7 named "masking"."""

from __future__ import annotations

from agent.loop.masking import TOKEN_BUDGET, estimate_tokens, fit, mask
from agent.models.model import Message, MessageKind, Role, ToolCall

SCREEN = (
    "Turn: {n} / 30\n\n## Screen State\nPackage: org.a\nScreen: Main\n"
    '[CONTENT]\n  [1] text: "Hello"\n  >>> [2] btn: "Go {n}"'
)


def turn(n: int) -> list[Message]:
    call = ToolCall(call_id=f"c{n}", name="click_element", arguments='{"element":2}')
    return [
        Message(role=Role.USER, kind=MessageKind.OBSERVATION, text=SCREEN.format(n=n)),
        Message(role=Role.ASSISTANT, kind=MessageKind.REPLY, tool_calls=(call,)),
        Message(role=Role.TOOL, kind=MessageKind.RESULT, text=f"OK: {n}", call_id=f"c{n}"),
    ]


def turns(count: int) -> list[Message]:
    return [message for n in range(1, count + 1) for message in turn(n)]


def test_masking_of_five_turns_shortens_only_the_first() -> None:
    masked = mask(turns(5))
    screens = [m.text for m in masked if m.kind is MessageKind.OBSERVATION]
    assert screens[0] == "[Screen: org.a/Main, 2 elements (1 interactive), Turn: 1 / 30]"
    assert screens[1:] == [SCREEN.format(n=n) for n in range(2, 6)]


def test_masking_leaves_calls_and_results_untouched() -> None:
    def others(messages: list[Message]) -> list[Message]:
        return [m for m in messages if m.kind is not MessageKind.OBSERVATION]

    assert others(mask(turns(9))) == others(turns(9))


def test_masking_twice_changes_nothing() -> None:
    assert mask(mask(turns(9))) == mask(turns(9))


def test_masking_goes_by_kind_so_hints_in_between_shift_nothing() -> None:
    hint = Message(role=Role.USER, kind=MessageKind.STEER, text="Try below.")
    hinted = [*turns(2), hint, hint, hint, *turns(5)[6:]]
    screens = [m.text for m in mask(hinted) if m.kind is MessageKind.OBSERVATION]
    assert [text.startswith("[Screen:") for text in screens] == [True, False, False, False, False]


def test_only_the_newest_screen_keeps_its_picture() -> None:
    pictured = [
        Message(role=Role.USER, kind=MessageKind.OBSERVATION, text=SCREEN, image=b"x")
        for _ in range(3)
    ]
    assert [m.image for m in mask(pictured)] == [None, None, b"x"]


def test_a_conversation_over_its_budget_keeps_two_screens() -> None:
    long = [
        Message(role=Role.USER, kind=MessageKind.OBSERVATION, text=SCREEN + "x" * 20_000)
        for _ in range(5)
    ]
    assert estimate_tokens(long) > TOKEN_BUDGET
    kept = [not m.text.startswith("[Screen:") for m in fit(long)]
    assert kept == [False, False, False, True, True]
