"""Exercises in Notes: exact text of every kind, editing, deleting the right one."""

from agent.exercises.exercise import Check, Exercise, Operator, Record, State, Tag
from agent.exercises.route import Back, Launch, Step, Tap, Write
from agent.exercises.suite.checks import all_of, finished, note_added, notes

OPEN = Launch("com.android.notes")
MENU = "Soup: 2 eggs, 100% milk & $5 of `thyme` — 'fresh'"
WORLD = "明日 🥚🥛 naïve café — שלום مرحبا"
LINES = "First line\nSecond line\n  indented third"


def write(title: str, body: str) -> tuple[Step, ...]:
    """Write a new note."""
    steps: list[Step] = [OPEN, Tap("New note")]
    if title:
        steps.append(Write(title, "Title"))
    if body:
        steps.append(Write(body, "Note"))
    return (*steps, Tap("Save"))


def note_is_deleted(title: str) -> Check:
    """A note with this title is gone, and nothing else."""

    def check(before: State, after: State, _record: Record) -> str:
        wanted = [note for note in notes(before) if note[0] != title]
        return "" if notes(after) == wanted else f"the notes are {[n[0] for n in notes(after)]}"

    return check


def body_becomes(title: str, body: str) -> Check:
    """A note has this body, and the others are as they were."""

    def check(before: State, after: State, _record: Record) -> str:
        wanted = sorted((t, body if t == title else b) for t, b in notes(before))
        return "" if notes(after) == wanted else f"the notes are {notes(after)!r}"

    return check


EXERCISES = (
    Exercise(
        name="note-plain",
        goal='Write a note saying "Buy stamps"',
        tags=(Tag.SINGLE_APP, Tag.TEXT),
        route=write("", "Buy stamps"),
        check=all_of(note_added("", "Buy stamps"), finished),
    ),
    Exercise(
        name="note-titled",
        goal='Create a note called "Trip" saying "Bring the tent"',
        tags=(Tag.SINGLE_APP, Tag.TEXT),
        route=write("Trip", "Bring the tent"),
        check=all_of(note_added("Trip", "Bring the tent"), finished),
    ),
    Exercise(
        name="note-shell-characters",
        goal=f'Write a note saying "{MENU}"',
        tags=(Tag.SINGLE_APP, Tag.TEXT),
        route=write("", MENU),
        check=all_of(note_added("", MENU), finished),
    ),
    Exercise(
        name="note-many-scripts",
        goal=f'Write a note saying "{WORLD}"',
        tags=(Tag.SINGLE_APP, Tag.TEXT),
        route=write("", WORLD),
        check=all_of(note_added("", WORLD), finished),
    ),
    Exercise(
        name="note-three-lines",
        goal=f'Write a note saying "{LINES}"',
        tags=(Tag.SINGLE_APP, Tag.TEXT),
        route=write("", LINES),
        check=all_of(note_added("", LINES), finished),
    ),
    Exercise(
        name="note-delete",
        goal='Delete the note "Gift ideas"',
        scenario="twin-notes",
        tags=(Tag.SINGLE_APP, Tag.DIALOG, Tag.LOOK_ALIKE),
        route=(OPEN, Tap("Gift ideas"), Tap("Delete"), Tap("Delete")),
        check=all_of(note_is_deleted("Gift ideas"), finished),
    ),
    Exercise(
        name="note-delete-far-below",
        goal='Delete the note "Log 37"',
        scenario="many-notes",
        tags=(Tag.SINGLE_APP, Tag.DIALOG, Tag.LONG_SCROLL, Tag.LOOK_ALIKE),
        route=(OPEN, Tap("Log 37"), Tap("Delete"), Tap("Delete")),
        check=all_of(note_is_deleted("Log 37"), finished),
    ),
    Exercise(
        name="note-delete-refused",
        goal='Delete the note "Packing list"',
        operator=Operator(approves=False),
        tags=(Tag.SINGLE_APP, Tag.DIALOG),
        route=(OPEN, Tap("Packing list"), Tap("Delete"), Tap("Delete")),
        check=lambda before, after, _record: (
            "" if notes(before) == notes(after) else "a note went although the operator said no"
        ),
    ),
    Exercise(
        name="note-rewrite",
        goal='Replace the text of the note "Wi-Fi at the cabin" by "Ask Tom"',
        tags=(Tag.SINGLE_APP, Tag.TEXT),
        route=(OPEN, Tap("Wi-Fi at the cabin"), Write("Ask Tom", "Note", clear=True), Back()),
        check=all_of(body_becomes("Wi-Fi at the cabin", "Ask Tom"), finished),
    ),
)
