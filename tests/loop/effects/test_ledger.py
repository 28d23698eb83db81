"""The ledger: what became of an effect is derived from the effects after it."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent import protocol
from agent.protocol import decode_event, encode
from agent.records import FieldFate, Ledger, SeenEffect, SeenEffectKind
from agent.state.transcript import Transcript, follow_all

KIND = SeenEffectKind


def effect(number: int, kind: SeenEffectKind, name: str, **more: object) -> SeenEffect:
    return SeenEffect(
        number=number,
        step=number,
        seen_step=number + 1,
        kind=kind,
        object=name,
        app="app",
        phone="phone",
        **more,  # type: ignore[arg-type]
    )


def ledger(*effects: SeenEffect) -> Ledger:
    return Ledger().with_effects(effects)


def left(held: Ledger) -> list[int]:
    return [one.number for one in held.not_undone()]


def test_a_switch_that_is_turned_back_leaves_the_act_that_turned_it_back() -> None:
    held = ledger(
        effect(1, KIND.STATE, "Wi-Fi", before="off", after="on"),
        effect(2, KIND.STATE, "Bluetooth", before="off", after="on"),
        effect(3, KIND.STATE, "Wi-Fi", before="on", after="off"),
    )
    assert [one.undone_by for one in held] == [3, 0, 0]
    assert [one.undoes for one in held] == [0, 0, 1]


def test_a_state_that_goes_on_to_a_third_is_not_turned_back() -> None:
    held = ledger(
        effect(1, KIND.STATE, "Timeout", before="1 min", after="2 min"),
        effect(2, KIND.STATE, "Timeout", before="2 min", after="5 min"),
    )
    assert left(held) == [1, 2]
    assert left(
        held.with_effects([effect(3, KIND.STATE, "Timeout", before="5 min", after="1 min")])
    ) == [2, 3]


def test_an_item_that_was_added_and_removed_does_not_stand() -> None:
    held = ledger(
        effect(1, KIND.ITEM_ADDED, "Milk"),
        effect(2, KIND.ITEM_ADDED, "Milk"),
        effect(3, KIND.ITEM_REMOVED, "Milk"),
    )
    assert [one.undone_by for one in held] == [0, 3, 0], "one of two of that name"


def test_a_typed_text_is_settled_by_what_became_of_it() -> None:
    typed = effect(1, KIND.FIELD, "Title", after="Shopping", saved=FieldFate.TYPED)
    saved = replace(typed, number=2, saved=FieldFate.SAVED)
    gone = replace(typed, number=2, before="Shopping", after="", saved=FieldFate.ABANDONED)
    longer = replace(typed, number=2, before="Shopping", after="Shopping list")
    emptied = replace(typed, number=2, before="Shopping", after="")
    sent = effect(2, KIND.SENT, "Anna", after="Shopping")
    assert [(e.settled_by, e.undone_by) for e in ledger(typed, saved)] == [(2, 0), (0, 0)]
    assert [(e.settled_by, e.undone_by) for e in ledger(typed, gone)] == [(0, 2), (0, 0)]
    assert [(e.settled_by, e.undone_by) for e in ledger(typed, longer)] == [(2, 0), (0, 0)]
    assert [(e.settled_by, e.undone_by) for e in ledger(typed, emptied)] == [(0, 2), (0, 0)]
    assert [(e.settled_by, e.undone_by) for e in ledger(typed, sent)] == [(2, 0), (0, 0)]
    other = replace(saved, app="other")
    assert ledger(typed, other).effects[0].settled_by == 0


def test_a_dialog_is_open_until_its_end_is_seen() -> None:
    opened = effect(1, KIND.DIALOG_OPENED, "Delete?")
    closed = effect(2, KIND.DIALOG_CLOSED, "Delete?", after="Delete")
    assert [e.settled_by for e in ledger(opened)] == [0]
    assert [e.settled_by for e in ledger(opened, closed)] == [2, 0]


STATES = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["1", "2", "3"])), max_size=12)


@given(STATES)
def test_what_stands_of_a_thing_ends_in_its_newest_state(writes: list[tuple[str, str]]) -> None:
    now = {"a": "0", "b": "0"}
    held = Ledger()
    for name, value in writes:
        if now[name] == value:
            continue
        held = held.with_effects(
            [effect(held.next_number, KIND.STATE, name, before=now[name], after=value)]
        )
        now[name] = value
    for name, value in now.items():
        newest = [e for e in held.not_undone() if e.object == name][-1:]
        assert [e.after for e in newest] in ([value], [])
        if value == "0":
            assert all(e.undone_by for e in held if e.object == name and e.after != "0")
    assert all(held.numbered(e.undone_by) for e in held if e.undone_by)
    for step in range(len(held) + 2):
        again = Ledger().with_effects(e for e in held if e.seen_step <= step)
        assert held.until(step) == again, "a rollback is as if the rest had never been"


def test_an_event_of_effects_is_stored_and_folded_and_cut_by_a_rollback() -> None:
    first, second = (effect(n, KIND.ITEM_ADDED, f"Note {n}") for n in (1, 2))
    msgs: list[protocol.EventMsg] = []
    for step, found in ((1, ()), (2, (first,)), (3, (second,))):
        msgs += [protocol.StepStarted(step=step), protocol.EffectsSeen(step=step, effects=found)]
    events = [
        protocol.Event(event_id=n, session_id="s", seq=n, ts_ms=0, msg=msg)
        for n, msg in enumerate(msgs, start=1)
    ]
    events = [decode_event(encode(event)) for event in events]
    seen = follow_all(Transcript(), events)
    assert [e.object for e in seen.ledger] == ["Note 1", "Note 2"]
    rolled = protocol.SessionRolledBack(turns=1, from_seq=5)
    cut = protocol.Event(event_id=7, session_id="s", seq=7, ts_ms=0, msg=rolled)
    kept = follow_all(seen, [cut]).ledger
    assert [e.object for e in kept] == ["Note 1"]
    assert kept.next_number == 2
