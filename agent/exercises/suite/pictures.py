"""Exercises on what only the picture shows: a game and a canvas whose trees say nothing."""

from agent.exercises.exercise import Exercise, Record, State, Tag
from agent.exercises.route import Launch, Tap
from agent.exercises.suite.checks import all_of, app, finished
from agent.exercises.suite.mixed import page_is_open

LIGHTS = "org.example.lights"


def level_solved(_before: State, after: State, _record: Record) -> str:
    """The game counts a solved board."""
    return "" if app(after, LIGHTS)["won"] else f"the board is {app(after, LIGHTS)['lamps']}"


EXERCISES = (
    Exercise(
        name="drawn-game",
        goal="Start the game Lights Out and solve its first level: every lamp has to be off",
        tags=(Tag.SINGLE_APP, Tag.PICTURE),
        route=(Launch(LIGHTS), Tap("START GAME"), Tap("5 ON")),
        check=all_of(level_solved, finished),
    ),
    Exercise(
        name="drawn-page",
        goal="Open the bookmark Tide tables in the Browser, and there the table of tomorrow",
        scenario="tides-bookmarked",
        tags=(Tag.SINGLE_APP, Tag.PICTURE, Tag.LOADING),
        route=(Launch("com.android.browser"), Tap("Tide tables"), Tap("TOMORROW")),
        check=all_of(page_is_open("tides.example/tomorrow"), finished),
    ),
)
