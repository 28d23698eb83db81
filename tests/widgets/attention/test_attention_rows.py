"""The attention queue's rows: what decides is seen in the width there is; one cause is one row."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agent import protocol
from agent.records import (
    DeviceState,
    Effect,
    EffectVerb,
    Question,
    QuestionKind,
    QuestionOption,
    SessionState,
    Source,
    Stated,
    Subject,
)
from agent.state.reducer import State, attention
from tests.console.fakes import FakeCore, phone
from tests.console.script import configure, run
from widgets.attention.alike import LEAST, Alike, grouped
from widgets.attention.attention_rows import attention_rows
from widgets.base.effect_parts import effect_parts
from widgets.base.rows import Parts, Row

NAMES = st.text(st.characters(categories=("Lu", "Ll", "Lo")), min_size=1, max_size=12)
FACTS = st.none() | st.builds(Stated, text=NAMES) | st.just(Stated(source=Source.UNREADABLE))
EFFECTS = st.builds(
    Effect,
    verb=st.sampled_from(EffectVerb),
    control=NAMES | st.just(""),
    recipient=FACTS,
    amount=FACTS,
    content=FACTS,
    phone=st.just("phone-0"),
)


def text(parts: Parts) -> str:
    return "".join(part for part, _ in parts)


def asking(*effects: Effect) -> State:
    """Fold as many sessions on phones of their own, each of which asks leave for an effect."""
    core = FakeCore()
    for number, effect in enumerate(effects):
        core.tell(protocol.DeviceChanged(device=phone(f"phone-{number}", model="Pixel")))
        one = f"s{number}"
        configure(core, one, "Tell Ana", serial=f"phone-{number}")
        run(core, one)
        question = Question(
            question_id=f"q{number}",
            session_id=one,
            kind=QuestionKind.APPROVAL,
            text="May I do this? Send?",
            options=(QuestionOption(label="Approve"), QuestionOption(label="Deny")),
            asked_ms=core.now_ms,
            deadline_ms=core.now_ms + 300_000,
            subject=Subject(action="click_element", effect=effect),
        )
        core.tell(protocol.RequestUserInput(question=question), one)
    return core.state


def rows_of(state: State, *, width: int = 0, most: int = 0) -> list[Row]:
    waiting = attention(state)
    now_ms = state.questions["q0"].asked_ms
    return attention_rows(waiting, state, now_ms=now_ms, width=width, most=most)


@given(effect=EFFECTS)
def test_recipient_amount_and_words_stand_in_a_row_or_are_said_not_to_be_shown(
    effect: Effect,
) -> None:
    said = text(effect_parts(effect))
    for fact in (effect.recipient, effect.amount):
        if fact is not None:
            assert (fact.text or "not shown") in said
    if effect.verb is EffectVerb.SEND:
        words = effect.content.text if effect.content is not None else effect.control
        assert (words or "not shown") in said


@given(effect=EFFECTS, width=st.integers(24, 120), most=st.integers(0, 8))
def test_phone_and_time_left_are_never_cut_and_lines_fit(
    effect: Effect, width: int, most: int
) -> None:
    state = asking(effect, effect)
    for row in rows_of(state, width=width, most=most):
        right = text(row.lines[0].right)
        assert "Pixel" in right and "5:00" in right
        assert cell_len(right) <= width * 2 // 5 + 11
        # What stands between the first line and the last one is whole; the last may be cut.
        assert all(cell_len(text(line.left)) <= width for line in row.lines[1:-2])


def test_eight_approvals_read_differently_on_one_line_each() -> None:
    people = ("Ana", "Ben", "Carla", "Dai", "Эля", "Finn", "Gerda", "Hal")
    state = asking(
        *(
            Effect(
                verb=EffectVerb.SEND,
                recipient=Stated(text=name),
                content=Stated(text="I will be late"),
                phone=f"phone-{number}",
            )
            for number, name in enumerate(people)
        )
    )
    lines = [text(row.lines[0].left)[:24] for row in rows_of(state, width=40, most=8)]
    assert all(f"Send {name} “I " in line for name, line in zip(people, lines, strict=True))
    phones = [text(row.lines[0].right) for row in rows_of(state, width=40, most=8)]
    assert len({shown.split(" 5:")[0] for shown in phones}) == len(people)


def failed(count: int, reason: str = "adb cannot reach phone-{n}: device offline") -> FakeCore:
    core = FakeCore()
    for n in range(count):
        configure(core, f"f{n}", "Install the update", serial=f"phone-{n}")
        core.tell(protocol.ErrorEvent(message=reason.format(n=n)), f"f{n}")
        core.tell(protocol.SessionStateChanged(state=SessionState.FAILED), f"f{n}")
    return core


@given(count=st.integers(1, 14), others=st.integers(0, 3))
def test_what_fails_for_one_cause_is_one_row_and_nothing_is_lost(count: int, others: int) -> None:
    core = failed(count)
    for n in range(others):
        configure(core, f"o{n}", "Read", serial=f"phone-{n}")
        core.tell(protocol.ErrorEvent(message=f"cause {'abc'[n]}"), f"o{n}")
        core.tell(protocol.SessionStateChanged(state=SessionState.FAILED), f"o{n}")
    waiting = attention(core.state)
    found = grouped(waiting, core.state)
    members = [
        one for each in found for one in (each.members if isinstance(each, Alike) else (each,))
    ]
    assert sorted(one.key for one in members) == sorted(one.key for one in waiting)
    groups = [one for one in found if isinstance(one, Alike)]
    assert [len(one.members) for one in groups] == ([count] if count >= LEAST else [])


def test_a_group_says_how_many_why_and_which_phones() -> None:
    core = failed(8)
    [row] = attention_rows(attention(core.state), core.state, now_ms=core.now_ms)
    assert text(row.lines[0].left) == "× 8 sessions failed: adb cannot reach …: device offline"
    assert text(row.lines[1].left).strip().startswith("phone-0, phone-1")
    assert text(row.lines[1].left).endswith("and 2 more")


def test_phones_that_are_offline_together_are_one_row() -> None:
    core = FakeCore()
    for n in range(12):
        note = f"adb does not reach phone-{n}."
        core.tell(
            protocol.DeviceChanged(device=phone(f"phone-{n}", state=DeviceState.OFFLINE, note=note))
        )
    [row] = attention_rows(attention(core.state), core.state, now_ms=core.now_ms)
    assert text(row.lines[0].left) == "! 12 phones offline: adb does not reach …."


def test_questions_are_never_put_together() -> None:
    effect = Effect(verb=EffectVerb.SEND, recipient=Stated(text="Ana"))
    state = asking(*[effect] * 5)
    assert len(rows_of(state)) == 5
