"""Each part of a goal has to be shown: a verdict for the whole of it leaves none out."""

import pytest

from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.goal_parts import nowhere, parts_of
from agent.protocol import ObservationRecorded, ToolCallFinished, ToolCallRequested
from agent.records import ActionOutcome, GoalVerdict
from tests.loop.paper_phone import PaperPhone, button, node
from tests.loop.verification.screens import observation
from tests.loop.verification.test_finish import PRESS, played, verdict
from tests.tasks.counter import Counter, results
from tests.tasks.scripted import DONE, says, scripted, texts


def names(goal: str) -> list[str]:
    return [part.text for part in parts_of(ClaimHistory(goal))]


@pytest.mark.parametrize(
    ("goal", "parts"),
    [
        ("Set an alarm at 7:30 only on Mondays", ["Mondays", "7:30"]),
        ("Stelle einen Wecker nur montags um 7:30 Uhr", ["montags", "7:30 Uhr"]),
        ("Set an alarm for 6:45 on weekdays", ["weekdays", "6:45"]),
        ("Wake me at 9:30 every weekend", ["weekend", "9:30"]),
        ("Wake me at 6 am every Tuesday", ["Tuesday", "6 am"]),
        ("Rename the note “Trip” to “Rome, May”", ["Trip", "Rome, May"]),
        ("Replace “Trip” by “Ask Tom”", ["Trip", "Ask Tom"]),
        ("Note three lines: milk, two eggs, brown bread", ["milk", "two eggs", "brown bread"]),
        ("Notiere zwei Zeilen: Milch, Eier und speichere sie", ["Milch", "Eier"]),
        ("Send Kim 18.50 dollars", ["18.50"]),
        ("Send Kim 15 dollars", ["15"]),
        ("Put 1,500 € into the field and save room 412", ["1,500", "412"]),
    ],
)
def test_what_a_screen_writes_as_the_goal_does_is_a_part(goal: str, parts: list[str]) -> None:
    assert names(goal) == parts


@pytest.mark.parametrize(
    "goal",
    [
        "How much is order 412?",
        "Write a note: call Tom, then look for the keys",
        "Do three things: open Settings, turn on Bluetooth, go home",
        "Tell me what the note from 2019 says",
        "Buy one lamp below 40 dollars",
        "Order a mug for at most 12.50 dollars",
        "If the meeting is before 9:30 write a note “early”, else “late”",
        "Set the alarm to 7:30 or 8:30",
        "Delete every note except “Shopping”",
        "Don't send “hello” to Kim",
        "Create 12 contacts",
        "Turn on the lamp in 20 minutes",
        "Set the brightness to 70 %",
        "Move the meeting to next Monday",
        "Move the meeting to Monday",
        "Do not ring on Mondays",
        "Do not ring on weekdays",
        "Put the trip on the weekend",
        "Add Kim with the number 555 0142",
        "Add Kim with the number 5550142222",
        "Write to “kim@example.org”",
        "Pay Kim, the PIN is 4821",
        "Запиши заметку “молоко” 412",
        "Buy the iPhone15 case",
    ],
)
def test_what_limits_depends_or_may_be_written_otherwise_is_none(goal: str) -> None:
    assert names(goal) == []


def alarm(*lines: str, done: str = "OK: Clicked.", more: str = "") -> ClaimHistory:
    past = ClaimHistory("Set an alarm at 7:30 pm only on Mondays")
    home = observation(node("Monday, November 30"), button("Clock", 0.6))
    past.fold(ObservationRecorded(step=1, observation=home))
    for result in filter(None, (done, more)):
        past.fold(
            ToolCallRequested(
                step=1, call_id="c", tool="click_element", arguments="{}", kind="action"
            )
        )
        past.fold(ToolCallFinished(step=1, call_id="c", outcome=ActionOutcome.DONE, text=result))
    shown = [node(line, (0.1, 0.1 + at / 10, 0.9, 0.15 + at / 10)) for at, line in enumerate(lines)]
    past.fold(ObservationRecorded(step=2, observation=observation(*shown)))
    return past


@pytest.mark.parametrize(
    ("past", "missed"),
    [
        (alarm("Alarms", "7:30 PM"), ["Mondays"]),
        (alarm("Alarms", "19:30", "Mon"), []),
        (alarm("Alarms", "07:30 p.m.", "Every Monday"), []),
        (alarm("Alarms", "7:30\N{NARROW NO-BREAK SPACE}PM", "Montag"), []),
        (alarm("Alarms", "Monday"), ["7:30 pm"]),
        (alarm("Alarms", "19:30", done='OK: Clicked [3] "Monday". It is now CHECKED.'), []),
        (alarm("Alarms", "7:30", more='WARNING: Clicked [3] "Monday", but nothing.'), ["Mondays"]),
    ],
)
def test_a_part_is_shown_in_whatever_form_the_phone_writes_it(
    past: ClaimHistory, missed: list[str]
) -> None:
    assert [part.text for part in nowhere(parts_of(past), past)] == missed


@pytest.mark.parametrize(
    ("goal", "line", "is_shown"),
    [
        ("Send Kim 15 dollars", "You sent $15.00", True),
        ("Send Kim 15 dollars", "You sent $150.00", False),
        ("Send Kim 18.50 dollars", "18,50 $", True),
        ("Set the limit to 1,500 dollars", "Limit: $1500", True),
        ("Write “Milk, eggs”", "milk  eggs", True),
        ("Write “Milk, eggs”", "Milk and eggs", False),
        ("Set the alarm on weekdays", "Once", False),
        ("Set the alarm on weekdays", "Mon, Tue, Wed, Thu, Fri", True),
        ("Set the alarm on weekdays", "Weekdays", True),
        ("Set the alarm on weekends", "Saturday and Sunday", True),
        ("Stelle den Wecker werktags", "Mo–Fr", True),
    ],
)
def test_a_part_is_shown_by_its_worth(goal: str, line: str, is_shown: bool) -> None:
    past = ClaimHistory(goal)
    past.fold(ObservationRecorded(step=1, observation=observation(node(line))))
    assert (not nowhere(parts_of(past), past)) is is_shown


GOAL = "Have it pressed once, only on Mondays"
GIVES_UP = says("finish", success=False, summary="No way.")


def counter(*beside: str) -> PaperPhone:
    """A page that counts presses, with more lines below."""
    page = Counter()
    more = [node(t, (0.1, 0.7 + at / 20, 0.9, 0.74 + at / 20)) for at, t in enumerate(beside)]
    return PaperPhone(lambda: [*page.screen(), *more], page.on)


@pytest.mark.parametrize("is_same", [True, False])
async def test_a_claim_of_which_nothing_shows_a_part_is_sent_back_once_and_then_unverified(
    is_same: bool,
) -> None:
    judge = scripted(*[verdict("met", "pressed 1")] * 2)
    end, context = await played(
        *(PRESS, DONE, DONE), judge=judge, goal=GOAL, is_same=is_same, phone=counter()
    )
    assert 'Nothing shows "Mondays".' in results(context)[1]
    assert end.completed and end.verification is not None
    assert not end.verification.is_met
    assert end.verification.reason.endswith('Nothing shows "Mondays".')
    assert len(judge.requests) == 2


@pytest.mark.parametrize("second", [GoalVerdict.MET, GoalVerdict.NOT_MET])
async def test_what_no_quote_shows_is_named_once_and_the_second_verdict_counts(
    second: GoalVerdict,
) -> None:
    judge = scripted(verdict("met", "pressed 1"), verdict(second.value, "Every Monday"))
    turns = (PRESS, DONE, GIVES_UP) if second is GoalVerdict.NOT_MET else (PRESS, DONE)
    end, _ = await played(*turns, judge=judge, goal=GOAL, phone=counter("Every Monday"))
    assert 'none of your quotes shows "Mondays"' in texts(judge)[-1]
    assert len(judge.requests) == 2
    met = end.verification is not None and end.verification.is_met
    assert met is (second is GoalVerdict.MET)


async def test_a_verdict_whose_quotes_show_every_part_costs_one_call() -> None:
    judge = scripted(verdict("met", "pressed 1", "Every Monday"))
    end, _ = await played(*(PRESS, DONE), judge=judge, goal=GOAL, phone=counter("Every Monday"))
    assert end.verification is not None and end.verification.is_met
    assert len(judge.requests) == 1
