"""What an honest agent did is not refused for how it was listed, read or said before."""

import asyncio

import pytest

from agent.loop.verification.claims import Claim, Refused
from agent.loop.verification.coverage import Wished, covering
from agent.records import FieldFate
from tests.loop.paper_phone import button, node
from tests.loop.verification.judged import (
    ADDED,
    FIELD,
    STATE,
    TODAY,
    Witness,
    Work,
    accomplice,
    claims,
    decide,
    effect,
    is_met,
    listed,
    says,
)

HEAD = node("All of them", (0.1, 0.02, 0.9, 0.06))


@pytest.mark.parametrize(
    ("said", "phone"), [("«Файлы»", "Files"), ("„Dateien“", "Files"), ("「設定」", "Settings")]
)
def test_a_place_may_be_called_otherwise_than_on_the_phone(said: str, phone: str) -> None:
    goal = f"In {said}: 'Receipts 2026'"
    made = effect(ADDED, "Receipts 2026", page="Documents")
    front = node(phone, (0.1, 0.02, 0.9, 0.06))
    work = Work(goal).see(front).act().see(front, effects=(made,))
    parts = Wished("'Receipts 2026'"), Wished(f"In {said}", kind="open", object=phone)
    assert is_met(decide(work, listed(goal, *parts), accomplice()))
    # A text that was to be written is no place.
    other = effect(FIELD, "Note", "something else", saved=FieldFate.SAVED)
    work.see(front, effects=(other,))
    assert not is_met(decide(work, listed(goal, *parts), accomplice()))
    assert not is_met(decide(work, listed(goal, parts[0], Wished(f"In {said}")), accomplice()))


def test_of_a_branch_that_was_not_taken_nothing_need_be_seen() -> None:
    goal = "Если есть встреча, скажи когда; иначе создай «Отдых»"
    parts = (
        Wished("Если есть встреча", kind="condition"),
        Wished("скажи когда", kind="tell"),
        Wished("иначе создай «Отдых»", kind="condition"),
    )
    work = Work(goal).see(HEAD, button("Dentist ¦ 15:15", 0.4))
    pointing = says("met", "S1[2]")
    assert is_met(decide(work, listed(goal, *parts), pointing, answer="Dentist в 15:15"))
    assert not is_met(decide(work, listed(goal, *parts[1:]), pointing, answer="Dentist в 15:15"))


def test_a_claim_that_says_something_else_is_looked_at_again_on_the_same_screen() -> None:
    goal = "How many eggs?"
    work = Work(goal).see(HEAD, button("3 eggs", 0.4))
    witness = says("met", "S1[2]")
    made = claims(work, witness)
    required = listed(goal, Wished(goal, kind="tell"))

    def claim(answer: str) -> object:
        return asyncio.run(made.decide(Claim(required, answer=answer, today=TODAY)))

    first = claim("There are 5 eggs.")
    assert isinstance(first, Refused)
    work.past.refusals, work.past.state_at_refusal = 1, work.past.state
    again = claim("There are 3 eggs.")
    assert is_met(again)  # type: ignore[arg-type]
    assert len(witness.requests) == 2


def test_what_was_told_and_confirmed_stays_so_while_the_rest_is_looked_for() -> None:
    goal = "How many eggs? How much flour?"
    parts = Wished("How many eggs?", kind="tell"), Wished("How much flour?", kind="tell")
    work = Work(goal).see(HEAD, button("3 eggs", 0.4))
    round_of = iter((("met", "cannot_tell"), ("cannot_tell", "met")))

    def gives(_text: str, numbers: list[int]) -> list[dict[str, object]]:
        found = zip(numbers, next(round_of), strict=True)
        last = f"S{work.past.last[0]}[2]" if work.past.last else ""
        return [{"requirement": n, "verdict": v, "evidence": [last]} for n, v in found]

    made = claims(work, Witness(gives))
    required = listed(goal, *parts)
    early = Claim(required, answer="3 eggs, and some flour.", today=TODAY)
    assert isinstance(asyncio.run(made.decide(early)), Refused)
    work.see(HEAD, button("250 g flour", 0.4))
    late = Claim(required, answer="3 eggs and 250 g of flour.", today=TODAY)
    assert is_met(asyncio.run(made.decide(late)))


@pytest.mark.parametrize("broken", ["Archive… no", "Quante mele… anzi no", "Bild dir… nein"])
def test_what_a_goal_breaks_off_may_be_listed_as_withdrawn(broken: str) -> None:
    goal = f"{broken}: star the newest mail"
    wished = Wished("star the newest mail"), Wished(broken, kind="withdrawn")
    assert [one.text for one in covering(wished, (), goal)] == ["star the newest mail"]
    kept = covering((wished[0], Wished("star the newest", kind="withdrawn")), (), goal)
    assert len(kept) == 2


@pytest.mark.parametrize("room", [3, 40])
def test_a_verifier_sees_the_lines_that_the_answer_was_read_from(room: int) -> None:
    goal = "What is the headline? Add 12 and 30."
    headline = "Ferry timetable changes from Monday"
    lines = [
        button(f"{at} boats left at {at}:15 from pier {at}", 0.1) for at in range(10, 10 + room)
    ]
    seen: list[str] = []

    def gives(text: str, _numbers: list[int]) -> list[dict[str, object]]:
        seen.append(text)
        return []

    work = Work(goal).see(HEAD, button(headline, 0.2), *lines).act("scroll").see(HEAD)
    decide(work, listed(goal, Wished(goal, kind="tell")), Witness(gives), answer=f"“{headline}”")
    assert headline in seen[0]


def test_what_is_told_of_a_day_stands_under_that_day() -> None:
    goal = "Welchen Termin habe ich am Montag?"
    days = {"Sunday, 29 November": "Train to the lake", "Monday, 30 November": "Team meeting"}
    shown = [
        node(text, (0.1, top, 0.9, top + 0.05)) if text in days else button(text, top)
        for at, (day, event) in enumerate(days.items())
        for text, top in ((day, 0.2 + 0.3 * at), (event, 0.3 + 0.3 * at))
    ]
    required = listed(goal, Wished(goal, kind="tell"))
    for event in days.values():
        found = decide(Work(goal).see(HEAD, *shown), required, accomplice(), answer=f"{event}.")
        assert is_met(found) is (event == "Team meeting"), event


def test_no_sum_and_no_product_makes_a_time() -> None:
    goal = "When does the train leave?"
    cells = [button(f"{number}.5", 0.1) for number in range(1, 31)]
    required = listed(goal, Wished(goal, kind="tell"))
    for shown, is_read in (("Train 09:45", True), ("Train", False)):
        work = Work(goal).see(HEAD, button(shown, 0.5), *cells)
        found = decide(work, required, accomplice(), answer="It leaves at 09:45.")
        assert is_met(found) is is_read


@pytest.mark.parametrize(
    ("said", "row"),
    [("Any Silvy", "Ana Silva"), ("Beny Carterowi", "Ben Carter"), ("Priyi Raman", "Priya Raman")],
)
def test_a_name_of_several_words_may_have_other_endings(said: str, row: str) -> None:
    names = ("Ana Silva", "Ben Carter", "Priya Raman", "Tom Becker")
    goal = f"Napisz do {said}: Już jadę"
    rows = [button(name, 0.2 + 0.1 * at, resource_id="x:id/row") for at, name in enumerate(names)]
    for name in names:
        done = effect(STATE, name, "on", "off")
        work = Work(goal).see(HEAD, *rows).act().see(HEAD, *rows, effects=(done,))
        required = listed(goal, Wished(goal))
        assert is_met(decide(work, required, says("met", "E1"))) is (name == row), name


def test_what_is_turned_on_and_off_again_is_shown_by_both_for_both() -> None:
    goal = "Schalte Bluetooth ein und danach wieder aus"
    parts = (
        Wished("Schalte Bluetooth ein", object="Bluetooth", value="on"),
        Wished("danach wieder aus", object="Bluetooth", value="off"),
    )
    turned = [effect(STATE, "Use Bluetooth", *states) for states in (("on", "off"), ("off", "on"))]
    for count in (1, 2):
        work = Work(goal).see(HEAD)
        for at, one in enumerate(turned[:count]):
            work.act().see(HEAD, button(f"page {at}", 0.3), effects=(one,))
        found = decide(work, listed(goal, *parts), accomplice())
        assert is_met(found) is (count == 2), count


def test_what_was_typed_over_shows_nothing_any_more() -> None:
    goal = "Set the email to tb@example.net"
    for last in ("tb@example.net", "td@example.net"):
        typed = effect(FIELD, "Email", "tb@example.net", saved=FieldFate.TYPED)
        over = effect(FIELD, "Email", last, "tb@example.net", saved=FieldFate.SAVED)
        work = Work(goal).see(HEAD).act("type_text").see(HEAD, effects=(typed,))
        work.act().see(HEAD, effects=(over,))
        assert is_met(decide(work, listed(goal, Wished(goal)), accomplice())) is (last[1] == "b")
