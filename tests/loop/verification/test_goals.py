"""Which goals ask only to look, so that a claim without any effect is no lie."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.loop.verification.goals import asks_only_to_look


@pytest.mark.parametrize(
    "goal",
    [
        "What is the battery level?",
        "Which switches are on in these ten pages",
        "Tell me who wrote last",
        "Please read the newest message",
        "Can you tell me the Android version",
        "Open Settings",
        "Do I have new mail?",
        "Open Settings and read the Android version",
        "Is the Wi-Fi switch on?",
        "How many unread mails are there, and who sent them?",
        "Wie viel Speicher ist frei?",
        "check whether airplane mode is on",
        "Go to the Display page",
        "How much is the bottle, and is it cheaper than the lamp? Just tell me; buy nothing.",
        "Read the newest mail. Do not archive it, and don't reply",
        "Find Grace's number without calling her",
        "Give me the number of unread mails",
        "Report how much storage is free",
        "Get the title of the newest mail",
        "Extract all phone numbers from the contact list",
        "Name three contacts",
        "I'd like to know how much storage is free",
        "Confirm whether the alarm at 7:00 is on",
        "Let me know which apps are installed",
    ],
)
def test_a_question_asks_only_to_look(goal: str) -> None:
    assert asks_only_to_look(goal)


@pytest.mark.parametrize(
    "goal",
    [
        "Turn on Bluetooth",
        "Open Settings and turn on Bluetooth",
        "Read the newest message, then reply that I am late",
        "What is on my list? Delete the first entry",
        "Check out and pay by card",
        "Check in for the flight",
        "Can you send a message to Tom?",
        "Start a timer for five minutes",
        "Go and turn it off",
        "Bluetooth einschalten",
        "Do Not Disturb on",
        "Delete the draft and send nothing",
        "Have the lamp switched on",
        "Find the lamp and add it to the cart",
        "Tell Anna that I am late",
        "Get the blue lamp",
        "Confirm the order",
        "Report the newest message as spam",
        "Give Tom a call",
        "Name the album Holiday",
        "Let me know when a parcel comes",
        "",
    ],
)
def test_a_change_is_no_question_however_it_begins(goal: str) -> None:
    assert not asks_only_to_look(goal)


@given(st.text(max_size=200))
def test_every_text_is_read(goal: str) -> None:
    assert asks_only_to_look(goal) in {True, False}
