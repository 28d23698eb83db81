"""Every part of what an operator wrote is in the list, and values are equal however written."""

from datetime import date

import pytest

from agent.loop.verification.coverage import Wished, covering, sentences, uncovered
from agent.loop.verification.values import is_carried, values_of
from agent.records import RequirementKind, RequirementOrigin
from agent.records.requirements import numbered, wanted

TODAY = date(2026, 11, 28)


@pytest.mark.parametrize(
    ("goal", "shown", "hidden"),
    [
        ("Set it to 30", "30.00", "300"),
        ("Pay 1,284.50 dollars", "1.284,50 $", "1,284.51"),
        ("Wake me at 6:45", "06:45", "7:45"),
        ("Um 18 Uhr", "6:00 PM", "19:00"),
        ("Meet on Friday, 4 December", "Fri, Dec 4", "Thu, Dec 3"),
        ("Rendez-vous le 4 décembre", "2026-12-04", "2026-12-05"),
        ("Jeden Montag", "Mon, Wed", "Tue, Wed"),
        ("Remind me tomorrow", "Sunday, November 29", "Monday, November 30"),
        ('Write "Hello there"', "Hello there!", "Hello here"),
        ("Schreibe „Bis gleich“", "Bis gleich", "Bis dann"),
        ("« Je suis là »", "je suis là", "je suis loin"),
        ("Call +49 30 901820", "030 90 18 20", "030 90 18 21"),
        ("Mail jo@example.org", "jo@example.org", "jo@example.com"),
        ("Buy: milk, eggs and ham, bread", "milk eggs ham bread", "milk bread"),
    ],
)
def test_a_value_is_carried_by_an_equal_one_and_by_no_other(
    goal: str, shown: str, hidden: str
) -> None:
    values = values_of(goal, TODAY)
    assert values
    assert all(is_carried(value, shown, TODAY) for value in values)
    assert not all(is_carried(value, hidden, TODAY) for value in values)


GOAL = "Turn on Bluetooth and set the alarm volume to 40. Then tell Anna Berg about it"
PARTS = ("Turn on Bluetooth", "set the alarm volume to 40", "Then tell Anna Berg about it")


def test_a_whole_list_gets_nothing_added() -> None:
    made = covering([Wished(part) for part in PARTS], (), GOAL)
    assert [one.text for one in made] == list(PARTS)
    assert [one.number for one in made] == [1, 2, 3]


@pytest.mark.parametrize("left_out", range(len(PARTS)))
def test_a_part_that_is_left_out_is_listed_all_the_same(left_out: int) -> None:
    short = [Wished(part) for at, part in enumerate(PARTS) if at != left_out]
    made = covering(short, (), GOAL)
    assert len(made) == len(PARTS)
    words = set(PARTS[left_out].split()) - {"the", "to", "on", "Turn", "set", "about", "it"}
    assert words <= set(made[-1].text.replace(".", "").split())
    assert made[-1].kind is RequirementKind.ANY


def test_without_a_list_the_sentences_are_it() -> None:
    made = covering((), (), 'Open Notes. Write "A. B" there!\nDone')
    assert [one.text for one in made] == ["Open Notes.", 'Write "A. B" there! Done']
    assert covering((), made, "Open Notes.") == made


def test_what_the_operator_added_or_withdrew_stays_whatever_a_model_lists() -> None:
    mine = numbered(("pay nothing",), RequirementOrigin.OPERATOR)
    first = covering([Wished("Turn on Bluetooth")], mine, "Turn on Bluetooth")
    assert [(one.number, one.text) for one in first] == [
        (1, "pay nothing"),
        (2, "Turn on Bluetooth"),
    ]
    again = covering([Wished("turn on Bluetooth", value="on")], first, "Turn on Bluetooth")
    assert [one.number for one in again] == [1, 2] and again[1].value == "on"


def test_only_a_hint_withdraws_a_part_of_the_goal() -> None:
    goal, gone = "Turn on Bluetooth and call Anna", Wished("and call Anna", kind="withdrawn")
    listed = covering([Wished("Turn on Bluetooth"), gone], (), goal)
    assert len(wanted(listed)) == 2
    listed = covering([Wished("Turn on Bluetooth"), gone], (), goal, ["Do not call Anna"])
    assert [one.text for one in wanted(listed)] == ["Turn on Bluetooth"]


def test_a_hint_adds_what_it_says() -> None:
    listed = covering([Wished("Call Anna")], (), "Call Anna", ["And at 17:30 call Ben Carter too"])
    assert listed[-1].origin is RequirementOrigin.HINT
    assert "17:30" in listed[-1].text


def test_a_list_of_conditions_alone_conditions_nothing() -> None:
    [one] = covering([Wished("Turn on Bluetooth", kind="condition")], (), "Turn on Bluetooth")
    assert one.kind is RequirementKind.ANY


def test_nothing_is_a_sentence_of_nothing() -> None:
    assert sentences(" \n.;") == ()
    assert uncovered("", ()) == ()


def test_a_secret_that_was_taken_out_asks_for_nothing() -> None:
    assert sentences("Send 15 to Tom; my [PIN REDACTED]") == ("Send 15 to Tom my",)
    assert sentences("[CARD REDACTED]") == ()
