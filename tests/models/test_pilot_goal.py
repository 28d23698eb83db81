"""The pilot's reading of goals, and its matching of names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.pilot.goal import parse
from agent.models.pilot.intents import (
    Choose,
    Delete,
    Intent,
    Note,
    Open,
    Press,
    Search,
    Send,
    Toggle,
    Unclear,
)
from agent.models.pilot.match import EXACT, GOOD, score
from agent.models.pilot.reading import App

SETTINGS, NOTES, SMS = "com.android.settings", "com.android.notes", "com.android.messaging"
APPS = (App(SETTINGS, "Settings"), App(NOTES, "Notes"), App(SMS, "Messages"))
UNLABELLED = (App(SETTINGS, ""), App(NOTES, ""), App(SMS, ""))

GOALS: dict[str, tuple[Intent, ...]] = {
    "open Settings and turn on Bluetooth": (
        Open("Settings", SETTINGS),
        Toggle("Bluetooth", True, SETTINGS),
    ),
    "Wi-Fi off": (Toggle("Wi-Fi", False, SETTINGS),),
    "Could you please switch on airplane mode?": (Toggle("airplane mode", True, SETTINGS),),
    "switch the dark mode on in the Settings app": (Toggle("dark mode", True, SETTINGS),),
    "I want Bluetooth on": (Toggle("Bluetooth", True, SETTINGS),),
    "disable Bluetooth and Wi-Fi": (
        Toggle("Bluetooth", False, SETTINGS),
        Toggle("Wi-Fi", False, SETTINGS),
    ),
    'write a note saying "milk and eggs"': (Note("milk and eggs", "", NOTES),),
    "Take a note: call the bank": (Note("call the bank", "", NOTES),),
    'add a note called "Trip" saying "pack; and go, then rest"': (
        Note("pack; and go, then rest", "Trip", NOTES),
    ),
    'send "on my way" to Anna': (Send("on my way", "Anna", SMS),),
    "text Anna “don't wait”": (Send("don't wait", "Anna", SMS),),
    "send Anna a message: are you free on Sunday?": (Send("are you free on Sunday", "Anna", SMS),),
    "send Ana the message hello": (Send("hello", "Ana", SMS),),
    "tell Anna I am late": (Send("I am late", "Anna", SMS),),
    'delete the note "Packing list"': (Delete("Packing list", "note", NOTES),),
    "remove the conversation with Dad": (Delete("Dad", "conversation", SMS),),
    "set the screen timeout to 2 minutes": (Choose("screen timeout", "2 minutes", SETTINGS),),
    'change the device name to "My, and yours"': (
        Choose("device name", "My, and yours", SETTINGS),
    ),
    'write a note saying "x", then send "y" to Dad': (Note("x", "", NOTES), Send("y", "Dad", SMS)),
    'write a note with the title "Milk"': (Note("", "Milk", NOTES),),
    "archive the conversation with Dad": (Press("archive", "Dad", "conversation", SMS),),
    "open Notes": (Open("Notes", NOTES),),
    "open Settings and search for battery": (
        Open("Settings", SETTINGS),
        Search("battery", SETTINGS),
    ),
    "book a flight to Mars": (Unclear("book a flight to Mars"),),
    "open Spotify": (Unclear("open Spotify", app="Spotify"),),
}


@pytest.mark.parametrize("goal", GOALS)
def test_a_goal_is_read_as_its_intents(goal: str) -> None:
    assert parse(goal, APPS) == GOALS[goal]


def test_apps_without_labels_are_known_by_their_packages() -> None:
    assert parse("open Notes", UNLABELLED) == (Open("Notes", NOTES),)
    assert parse('send "x" to Dad', UNLABELLED) == (Send("x", "Dad", SMS),)


@given(st.text(alphabet=st.characters(exclude_characters='"“”«»„§'), min_size=1).filter(str.strip))
def test_quoted_text_comes_through_letter_for_letter(text: str) -> None:
    intents = parse(f'write a note saying "{text}"', APPS)
    assert intents == (Note(text, "", NOTES),)


@given(st.text())
def test_any_goal_is_read_without_fail(goal: str) -> None:
    assert all(str(intent) or True for intent in parse(goal, APPS))


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("wifi", "Wi‑Fi"),
        ("WLAN", "Wi-Fi | On"),
        ("dark mode", "Dark theme | Will never turn on"),
        ("flight mode", "Airplane mode"),
        ("notification", "Notifications"),
        ("Bluetooth", "Use Bluetooth"),
    ],
)
def test_what_people_call_the_same_is_the_same(name: str, label: str) -> None:
    assert score(name, label) == EXACT


@pytest.mark.parametrize(
    ("name", "label"), [("me", "Menu"), ("Ola", "Cola"), ("Wi-Fi", "Widgets"), ("Anna", "Hannah")]
)
def test_letters_in_common_are_no_match(name: str, label: str) -> None:
    assert score(name, label) < GOOD


def test_an_app_is_known_by_the_only_package_that_says_its_name() -> None:
    maker = App("com.google.android.deskclock", "")
    assert parse("open Clock", (*UNLABELLED, maker)) == (Open("Clock", maker.package),)
    assert parse("open the clock app", (*UNLABELLED, maker)) == (
        Open("the clock app", maker.package),
    )
    two = (*UNLABELLED, maker, App("com.example.worldclock", ""))
    assert parse("open Clock", two) == (Unclear("open Clock", app="Clock"),)
    # Within an app it is a page of that app.
    assert parse("open Settings and open Clock", (*UNLABELLED, maker))[1] == Open("Clock", SETTINGS)


def test_what_is_no_name_of_an_app_is_not_sought_as_one() -> None:
    goal = "show me how a cake is made"
    assert parse(goal, APPS) == (Unclear(goal),)


def test_a_package_is_taken_at_its_word_where_the_phone_gave_no_list() -> None:
    assert parse("open org.example.tea", ()) == (Open("org.example.tea", "org.example.tea"),)
    assert parse("open org.example.tea", APPS) == (
        Unclear("open org.example.tea", app="org.example.tea"),
    )
