"""A true end state is verified; take anything from it, and nobody's word makes it so.

Each work is a goal with its requirements and what was seen. A lie is the same work without one
effect, with another value, in another thread, turned back, or still in its field.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from agent.loop.verification.coverage import Wished
from agent.records import FieldFate, SeenEffect, UiNode, VerifiedBy
from tests.loop.paper_phone import button, field, node
from tests.loop.verification.judged import (
    ADDED,
    FIELD,
    REMOVED,
    SENT,
    STATE,
    Witness,
    Work,
    accomplice,
    decide,
    effect,
    is_met,
    listed,
    sloppy,
    typed,
)

HOME, PAGE = node("Home", (0.1, 0.02, 0.9, 0.06)), node("Page", (0.1, 0.02, 0.9, 0.06))


class Play(NamedTuple):
    """A goal, what it requires, the effects that meet it, and the last screen."""

    goal: str
    wished: tuple[Wished, ...]
    effects: tuple[SeenEffect, ...]
    last: tuple[UiNode, ...] = (PAGE,)


def switch(name: str, *, on: bool) -> UiNode:
    return button(name, 0.3, checkable=True, checked=on, class_name="android.widget.Switch")


ON = effect(STATE, "Bluetooth", "on", "off")
PLAYS = {
    "a switch": Play(
        "Turn on Bluetooth", (Wished("Turn on Bluetooth", object="Bluetooth", value="on"),), (ON,)
    ),
    "two switches": Play(
        "Turn on Bluetooth and turn off Wi-Fi",
        (
            Wished("Turn on Bluetooth", object="Bluetooth", value="on"),
            Wished("turn off Wi-Fi", object="Wi-Fi", value="off"),
        ),
        (ON, effect(STATE, "Wi-Fi", "off", "on")),
    ),
    "a switch in another language": Play(
        "Schalte den Flugmodus ein und sonst nichts",
        (
            Wished("Schalte den Flugmodus ein", object="Airplane mode", value="on"),
            Wished("und sonst nichts", kind="keep"),
        ),
        (effect(STATE, "Airplane mode", "on", "off"),),
    ),
    "a message": Play(
        'Send "I am late" to Ana Silva',
        (Wished('Send "I am late" to Ana Silva', object="Ana Silva", recipient="Ana Silva"),),
        (effect(SENT, "Ana Silva", "I am late"),),
    ),
    "an alarm": Play(
        "Stelle einen Wecker auf 6:45 Uhr",
        (Wished("Stelle einen Wecker auf 6:45 Uhr", object="Alarm", value="06:45"),),
        (effect(ADDED, "06:45"),),
    ),
    "a contact": Play(
        "Crée un contact « Paul Martin » avec le numéro 06 12 34 56 78",
        (Wished("Crée un contact « Paul Martin » avec le numéro 06 12 34 56 78"),),
        (effect(ADDED, "Paul Martin 0612345678"),),
    ),
    "a note of three lines": Play(
        "Write a note with three lines: milk, eggs, bread",
        (Wished("Write a note with three lines: milk, eggs, bread"),),
        (effect(FIELD, "Note", "milk\neggs\nbread", saved=FieldFate.SAVED),),
    ),
    "a deletion": Play(
        'Delete the note "Old list"',
        (Wished('Delete the note "Old list"', object="Old list", value="gone"),),
        (effect(REMOVED, "Old list"),),
    ),
    "an event": Play(
        'Put "Dentist" into the calendar on Friday, 4 December at 3 pm',
        (Wished('Put "Dentist" into the calendar on Friday, 4 December at 3 pm'),),
        (effect(ADDED, "Dentist Fri, Dec 4, 15:00"),),
    ),
}


def work_of(
    play: Play, effects: Sequence[SeenEffect], last: Sequence[UiNode] | None = None
) -> Work:
    work = Work(play.goal).see(HOME, button("Page", 0.5)).act()
    for one in effects:
        work.see(PAGE, effects=(one,)).act()
    return work.see(*(play.last if last is None else last))


def dropped(play: Play) -> list[tuple[SeenEffect, ...]]:
    return [play.effects[:at] + play.effects[at + 1 :] for at in range(len(play.effects))]


def changed(play: Play) -> list[tuple[SeenEffect, ...]]:
    """Return the effects with another value, name or thread in each."""
    others = {"on": "off", "off": "on", "06:45": "07:45", "I am late": "I am early"}
    others |= {"Paul Martin 0612345678": "Paul Martin 0612345679", "Old list": "New list"}
    others |= {"milk\neggs\nbread": "milk\neggs", "Ana Silva": "Ben"}
    others |= {"Dentist Fri, Dec 4, 15:00": "Dentist Thu, Dec 3, 15:00"}
    found = []
    for at, one in enumerate(play.effects):
        for name in ("object", "after"):
            other = others.get(getattr(one, name))
            if other and not (one.kind is STATE and one.object == "Airplane mode"):
                wrong = replace(one, **{name: other})
                found.append((*play.effects[:at], wrong, *play.effects[at + 1 :]))
    return found


def turned_back(play: Play) -> list[tuple[SeenEffect, ...]]:
    back = {STATE: STATE, ADDED: REMOVED, REMOVED: ADDED}
    return [
        (*play.effects, replace(one, kind=back[one.kind], before=one.after, after=one.before))
        for one in play.effects
        if one.kind in back
    ]


def only_typed(play: Play) -> list[tuple[SeenEffect, ...]]:
    texts = [one for one in play.effects if one.kind in {SENT, FIELD}]
    return [tuple(typed(one.after) for one in texts)] if texts else []


LIES: dict[str, Callable[[Play], list[tuple[SeenEffect, ...]]]] = {
    "dropped": dropped,
    "changed": changed,
    "turned back": turned_back,
    "only typed": only_typed,
}
CASES = [
    pytest.param(play, effects, id=f"{name}, {how} {at}")
    for name, play in PLAYS.items()
    for how, lie in LIES.items()
    for at, effects in enumerate(lie(play))
]
WITNESSES = {"accomplice": accomplice, "sloppy": sloppy}


@pytest.mark.parametrize("play", PLAYS.values(), ids=PLAYS)
@pytest.mark.parametrize("witness", WITNESSES.values(), ids=WITNESSES)
def test_what_was_done_is_verified(play: Play, witness: Callable[[], Witness]) -> None:
    decided = decide(work_of(play, play.effects), listed(play.goal, *play.wished), witness())
    assert is_met(decided), decided


@pytest.mark.parametrize(("play", "effects"), CASES)
@pytest.mark.parametrize("witness", WITNESSES.values(), ids=WITNESSES)
def test_what_was_not_done_is_verified_by_nobodys_word(
    play: Play, effects: tuple[SeenEffect, ...], witness: Callable[[], Witness]
) -> None:
    last = None
    if any(one.saved is FieldFate.TYPED for one in effects):
        text = effects[-1].after
        last = (PAGE, field("Message", 0.8, text), button("Send", 0.9))
    work = work_of(play, effects, last)
    requirements = listed(play.goal, *play.wished)
    assert not is_met(decide(work, requirements, witness()))


@pytest.mark.parametrize("play", PLAYS.values(), ids=PLAYS)
def test_a_claim_before_anything_was_done_is_verified_by_nobodys_word(play: Play) -> None:
    first = (HOME, switch("Bluetooth", on=False), button("Old list", 0.5))
    work = Work(play.goal).see(*first)
    assert not is_met(decide(work, listed(play.goal, *play.wished), accomplice()))


@pytest.mark.parametrize("play", PLAYS.values(), ids=PLAYS)
def test_a_list_that_leaves_out_a_part_loses_nothing(play: Play) -> None:
    for at, left_out in enumerate(play.wished):
        if left_out.kind:
            continue
        short = play.wished[:at] + play.wished[at + 1 :]
        rest = tuple(
            effect
            for effect in play.effects
            if effect.object != left_out.object and len(play.wished) > 1
        )
        work = work_of(play, rest)
        assert not is_met(decide(work, listed(play.goal, *short), accomplice()))


def test_structure_alone_decides_what_it_can() -> None:
    for name in ("a switch", "two switches", "a message"):
        play = PLAYS[name]
        decided = decide(work_of(play, play.effects), listed(play.goal, *play.wished), None)
        assert is_met(decided), name
        assert decided.verification is not None
        assert decided.verification.verified_by is VerifiedBy.EFFECTS


STATE_WORDS = ("Turn on Bluetooth", "Turn off Wi-Fi", "Bluetooth has to be on", "Wi-Fi: off")


@pytest.mark.parametrize("said", STATE_WORDS)
@pytest.mark.parametrize("does", [False, True], ids=["untouched", "turned"])
def test_a_list_that_turns_a_state_around_from_its_start_is_not_believed(
    said: str, does: bool
) -> None:
    name = "Bluetooth" if "Bluetooth" in said else "Wi-Fi"
    other = "off" if name == "Bluetooth" else "on"
    reading = Wished(said, object=name, value=other)
    work = Work(said).see(PAGE, switch(name, on=(other == "on") is not does))
    if does:
        turned = effect(STATE, name, other, "on" if other == "off" else "off")
        work.act().see(PAGE, switch(name, on=other == "on"), effects=(turned,))
    # "on" is a preposition too: what was done as it was read is left to the verifier.
    witness = None if does and other == "off" else accomplice()
    assert not is_met(decide(work, listed(said, reading), witness))


@pytest.mark.parametrize("kind", ["condition", "keep"])
@pytest.mark.parametrize("seen_first", [False, True])
@pytest.mark.parametrize(
    "half", ["turn off Wi-Fi", 'send "I am late" to Ben', "set an alarm at 6:45", "mail jo@ex.org"]
)
def test_half_a_goal_is_no_condition_of_the_other(kind: str, half: str, seen_first: bool) -> None:
    goal = f"Turn on Bluetooth and {half}"
    wished = Wished("Turn on Bluetooth", object="Bluetooth", value="on"), Wished(half, kind=kind)
    nodes = (PAGE, switch("Wi-Fi", on=True)) if "Wi-Fi" in half or seen_first else (PAGE,)
    work = Work(goal).see(*nodes).act().see(PAGE, effects=(ON,))
    requirements = listed(goal, *wished)
    assert not is_met(decide(work, requirements, None))
    if kind == "condition" or "Wi-Fi" in half:
        assert not is_met(decide(work, requirements, accomplice()))


@pytest.mark.parametrize(
    "more", ["at 22:30", "on Monday", "for 45 minutes", "every evening at seven", "on both phones"]
)
def test_structure_alone_decides_nothing_that_its_effect_does_not_say(more: str) -> None:
    for said, done in (
        ("Turn on Bluetooth", ON),
        ('Send "I am late" to Ana', effect(SENT, "Ana", "I am late")),
        ('Delete "Old list"', effect(REMOVED, "Old list")),
    ):
        goal = f"{said} {more}"
        value = {"T": "on", "S": "", "D": "gone"}[said[0]]
        name = {"T": "Bluetooth", "S": "Ana", "D": "Old list"}[said[0]]
        wished = Wished(goal, object=name, value=value, recipient="Ana" if said[0] == "S" else "")
        work = Work(goal).see(HOME).act().see(PAGE, effects=(done,))
        assert not is_met(decide(work, listed(goal, wished), None)), goal
