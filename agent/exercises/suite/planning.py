"""Exercises with the clock and the calendar: dialogs, fields with values, dates."""

from datetime import UTC, datetime, timedelta

from agent.exercises.exercise import Check, Exercise, Record, State, Tag
from agent.exercises.route import Launch, Tap, Write
from agent.exercises.suite.checks import all_of, app, finished

CLOCK = "com.android.deskclock"
CALENDAR = "com.android.calendar"


def alarms(state: State) -> list[tuple[int, int, bool, str]]:
    return sorted(
        (a["hour"], a["minute"], a["on"], a["label"]) for a in app(state, CLOCK)["alarms"]
    )


def alarms_become(*wanted: tuple[int, int, bool, str]) -> Check:
    """The alarms are exactly these."""

    def check(_before: State, after: State, _record: Record) -> str:
        return "" if alarms(after) == sorted(wanted) else f"the alarms are {alarms(after)}"

    return check


def event_made(title: str, place: str, *, days_ahead: int) -> Check:
    """One event more, on the day and at the place."""

    def check(before: State, after: State, _record: Record) -> str:
        known = {e["id"] for e in app(before, CALENDAR)["events"]}
        made = [e for e in app(after, CALENDAR)["events"] if e["id"] not in known]
        day = str((datetime.fromtimestamp(before["time"], UTC) + timedelta(days=days_ahead)).date())
        found = [(e["title"], e["day"], e["place"]) for e in made]
        return "" if found == [(title, day, place)] else f"the new events are {found}"

    return check


def event_gone(title: str) -> Check:
    """One event is gone, and only that one."""

    def check(before: State, after: State, _record: Record) -> str:
        old, new = ({e["title"] for e in app(s, CALENDAR)["events"]} for s in (before, after))
        return "" if old - new == {title} else f"gone: {sorted(old - new)}"

    return check


EXERCISES = (
    Exercise(
        name="alarm-new",
        goal='Set an alarm for 6:45 with the label "Run"',
        tags=(Tag.SINGLE_APP, Tag.DIALOG, Tag.TEXT),
        route=(
            Launch(CLOCK),
            Tap("Add alarm"),
            Write("6", "Hour", clear=True),
            Write("45", "Minute", clear=True),
            Write("Run", "Label"),
            Tap("OK"),
        ),
        check=all_of(
            alarms_become((6, 45, True, "Run"), (7, 0, False, "Work"), (9, 30, False, "")), finished
        ),
    ),
    Exercise(
        name="alarm-on",
        goal="Turn on the alarm at 09:30 in the Clock app",
        tags=(Tag.SINGLE_APP, Tag.LOOK_ALIKE),
        route=(Launch(CLOCK), Tap("09:30", kind="switch")),
        check=all_of(alarms_become((7, 0, False, "Work"), (9, 30, True, "")), finished),
    ),
    Exercise(
        name="event-new",
        goal='Add an event "Call the bank" today at the location "Home" to the calendar',
        tags=(Tag.SINGLE_APP, Tag.TEXT),
        route=(
            Launch(CALENDAR),
            Tap("New event"),
            Write("Call the bank", "Title"),
            Write("Home", "Location"),
            Tap("Save"),
        ),
        check=all_of(event_made("Call the bank", "Home", days_ahead=0), finished),
    ),
    Exercise(
        name="event-delete",
        goal='Delete the event "Lunch with Chloe" from the calendar',
        tags=(Tag.SINGLE_APP, Tag.DIALOG),
        route=(Launch(CALENDAR), Tap("Lunch with Chloe"), Tap("Delete event"), Tap("Delete")),
        check=all_of(event_gone("Lunch with Chloe"), finished),
    ),
)
