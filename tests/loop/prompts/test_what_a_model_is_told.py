"""What a model is told of a screen and of what it did: nothing untrue, nothing left out unsaid."""

import re

import pytest

from agent.knowledge.app_names import app_line, name_of_package, with_names
from agent.knowledge.library import load
from agent.loop.conversation.memory import Memory
from agent.loop.ocr.region import silent_region
from agent.loop.screen.changes import describe_change
from agent.loop.screen.elements import number_elements
from agent.loop.screen.screen_text import screen_text
from agent.loop.screen.verify import verify_click, verify_scroll, verify_typing
from agent.loop.signals.list_end import reached_end
from agent.loop.signals.rejection import refuses
from agent.models.model import MessageKind
from agent.protocol import SteerApplied, TaskComplete, UserMessage
from agent.records import AppInfo, Foreground, Observation, Point, Speaker, UiNode
from tests.loop.paper_phone import APP, button, field, node
from tests.loop.test_changes import seen

LIST = node("", (0.0, 0.1, 1.0, 0.9), class_name="RecyclerView", scrollable=True)


def shown(*nodes: UiNode) -> str:
    return screen_text(Foreground(package=APP), number_elements(nodes, redact=str))


def rows(first_top: float, count: int = 8, **more: object) -> list[UiNode]:
    """Rows of equal height in the list, cut at its edges as Android gives them."""
    found = []
    for at in range(count):
        top, bottom = first_top + at * 0.1, first_top + at * 0.1 + 0.1
        if bottom > 0.1 and top < 0.9:
            box = (0.0, max(top, 0.1), 1.0, min(bottom, 0.9))
            found.append(node(f"Row {at}", box, clickable=True, parent=0, **more))
    return found


def test_a_row_that_the_edge_of_its_list_cuts_off_is_said_to_be_cut_off() -> None:
    cut = node("", (0.0, 0.1, 1.0, 0.15), clickable=True, parent=0)
    text = shown(LIST, cut, *rows(0.15, 7), node("", (0, 0.85, 1, 0.9), clickable=True, parent=0))
    assert '[2] btn: "unlabeled" (cut off at the top: scroll up)' in text
    assert '[10] btn: "unlabeled" (cut off at the bottom: scroll down)' in text
    assert text.count("cut off") == 2


def test_a_row_that_lost_its_second_line_to_the_edge_is_said_to_be_cut_off() -> None:
    assert '"Row 7" (cut off at the bottom: scroll down)' in shown(LIST, *rows(0.13))
    # Whole rows at both edges are no such rows.
    assert "cut off" not in shown(LIST, *rows(0.1))


def test_the_fields_of_a_time_picker_are_named_by_the_words_beside_them() -> None:
    hour = node("8", (0.2, 0.4, 0.4, 0.45), class_name="android.widget.EditText", clickable=True)
    minute = node("00", (0.6, 0.4, 0.8, 0.45), class_name="android.widget.EditText", clickable=True)
    text = shown(
        node("Enter time", (0.1, 0.3, 0.9, 0.33)),
        hour,
        node("Hour", (0.2, 0.455, 0.4, 0.48)),
        node(":", (0.45, 0.4, 0.55, 0.45)),
        minute,
        node("Minute", (0.6, 0.455, 0.8, 0.48)),
    )
    assert 'INPUT: "Hour" = "8"' in text
    assert 'INPUT: "Minute" = "00"' in text
    assert "unlabeled" not in text


def test_a_field_that_is_named_by_a_sample_only_shows_its_id_too() -> None:
    amount = field("0.00", 0.3, resource_id="com.example:id/amount")
    assert shown(amount).endswith('INPUT: "0.00" id=amount')
    assert "id=" not in shown(field("Amount", 0.3, resource_id="com.example:id/amount"))


def test_each_field_of_a_form_is_named_by_the_text_over_it() -> None:
    nodes = []
    for at, name in enumerate(("Name", "Street", "City")):
        top = 0.2 + at * 0.08
        nodes.append(node(name, (0.1, top, 0.4, top + 0.02)))
        nodes.append(field("", top + 0.025, f"value {at}"))
    text = shown(*nodes)
    for at, name in enumerate(("Name", "Street", "City")):
        assert f'INPUT: "{name}" = "value {at}"' in text


def test_a_field_that_is_called_a_password_by_the_text_over_it_does_not_give_its_text() -> None:
    text = shown(node("Password", (0.1, 0.2, 0.4, 0.22)), field("", 0.225, "hunter2"))
    assert "hunter2" not in text


def test_a_large_field_with_a_text_is_no_silent_screen() -> None:
    editor = node("Milk", (0, 0.2, 1, 0.9), class_name="android.widget.EditText", clickable=True)
    page = node("", (0, 0.2, 1, 0.9), class_name="android.widget.ScrollView", scrollable=True)
    nodes = (node("Edit note", (0, 0.1, 1, 0.15)), page, editor)
    assert silent_region(nodes, number_elements(nodes, redact=str)) is None
    article = node("A long text. " * 40, (0, 0.2, 1, 0.9))
    assert silent_region((article,), number_elements((article,), redact=str)) is None
    game = node("", (0, 0.2, 1, 0.9), class_name="android.view.View")
    assert silent_region((game,), number_elements((game,), redact=str)) is not None


@pytest.mark.parametrize("count", [5, 6, 30])
def test_a_list_of_changes_says_how_many_it_leaves_out(count: int) -> None:
    new = [node(f"row {n}", (0.1, n / 100, 0.9, n / 100 + 0.008)) for n in range(count)]
    said = describe_change(seen(), seen(*new))
    assert ("more" in said) == (count > 5)
    assert f"and {count - 5} more." in said or count == 5
    clicked = verify_click("Clicked", seen(), seen(*new))
    assert f"and {count - 3} more." in clicked


def test_what_is_cut_short_is_marked_as_cut() -> None:
    before = seen(field("Note", 0.4, "a"))
    said = describe_change(before, seen(field("Note", 0.4, "word " * 60)))
    assert said.endswith('…".')
    assert '"Some…' not in describe_change(seen(), seen(node("Some label")))
    assert re.search(r'"x{39}…"', describe_change(seen(), seen(node("x" * 50))))


def test_a_scroll_that_moved_less_than_the_finger_says_that_the_list_ends() -> None:
    start, end = Point(x=0.5, y=0.78), Point(x=0.5, y=0.22)
    screen = seen(LIST, *rows(0.1, 30))

    def after(moved: float) -> Observation:
        return seen(LIST, *rows(0.1 - moved, 30))

    assert not reached_end(screen, after(0.56), start, end)
    assert not reached_end(screen, after(0.5), start, end)
    assert reached_end(screen, after(0.2), start, end)
    # Nothing in common: nothing is known.
    assert not reached_end(screen, seen(LIST, node("Other", parent=0)), start, end)
    said = verify_scroll("Scrolled down", screen, after(0.2), (start, end))
    assert said.startswith("OK: ")
    assert said.endswith("this is the end of the list.")


def test_a_scroll_that_left_nothing_of_the_page_before_says_that_rows_may_be_unseen() -> None:
    start, end = Point(x=0.5, y=0.78), Point(x=0.5, y=0.22)
    bar = button("New note", 0.95)

    def page(first: int) -> Observation:
        shown = (
            node(f"Log {first + n}", (0.1, 0.2 + 0.1 * n, 0.9, 0.25 + 0.1 * n)) for n in range(6)
        )
        return seen(LIST, *shown, bar)

    skipped = verify_scroll("Scrolled down", page(19), page(27), (start, end))
    assert skipped.startswith("OK: ")
    assert "rows in between may not have been shown" in skipped
    for after in (page(24), page(19)):
        said = verify_scroll("Scrolled down", page(19), after, (start, end))
        assert "in between" not in said
    aside = verify_scroll(
        "Scrolled right", page(19), page(27), (Point(x=0.8, y=0.5), Point(x=0.2, y=0.5))
    )
    assert "in between" not in aside


def test_a_press_that_the_app_rejects_is_a_warning_with_its_words() -> None:
    before = seen(button("Save", 0.5))
    toast = seen(button("Save", 0.5), toast="Enter a valid amount")
    assert verify_click("Clicked", before, toast) == (
        'WARNING: Clicked, and the app answered: "Enter a valid amount"'
    )
    demand = seen(button("Save", 0.5), toast="Enter a time from 00:00 to 23:59")
    assert verify_click("Clicked", before, demand).startswith("WARNING")
    beside = seen(button("Save", 0.5), node("Title is required", (0.1, 0.3, 0.9, 0.33)))
    assert verify_click("Clicked", before, beside).startswith("WARNING")
    asked = seen(button("1", 0.5), button("2", 0.6), node("Enter your PIN"))
    wrong = seen(button("1", 0.5), button("2", 0.6), node("Wrong PIN, try again"))
    assert verify_click("Pressed", asked, wrong).startswith("WARNING")
    added = seen(button("Save", 0.5), toast="Added to cart")
    assert verify_click("Clicked", before, added).startswith("OK")
    # Another page that speaks of errors is where the press led.
    page = seen(node("Error log"), node("Share"))
    assert verify_click("Clicked", before, page).startswith("OK")


@pytest.mark.parametrize(("old", "text", "held"), [("8", "6", "68"), ("00", "45", "0450")])
def test_a_text_that_lands_in_front_of_or_inside_another_is_a_warning(
    old: str, text: str, held: str
) -> None:
    before, after = seen(field("Hour", 0.3, old)), seen(field("Hour", 0.3, held))
    [element] = before.elements
    said = verify_typing("Typed", text, element, before, after)
    assert said.startswith("WARNING: Typed, but it was not put after what was there")
    behind = seen(field("Hour", 0.3, old + text))
    said = verify_typing("Typed", text, element, before, behind)
    assert said.startswith("WARNING: Typed, but it runs together with what was there")


@pytest.mark.parametrize("toast", ["الاسم مطلوب", "请填写姓名", "Nimi puuttuu", "Hm."])
def test_a_press_that_leaves_a_filled_form_there_is_a_warning_in_any_language(toast: str) -> None:
    form = (field("Name", 0.3, "Ada"), button("OK", 0.5))
    said = verify_click("Clicked", seen(*form), seen(*form, toast=toast))
    assert said == f'WARNING: Clicked, but the form is there as before. A toast said "{toast}".'
    gone = verify_click("Clicked", seen(*form), seen(node("Contacts"), toast=toast))
    assert gone.startswith("OK")
    hits = node("", (0.0, 0.4, 1.0, 0.9), class_name="android.widget.ListView", scrollable=True)
    for page in (
        (field("Search", 0.3), button("Copy", 0.5)),
        (field("Search", 0.3, "shoes"), hits, button("Add", 0.5)),
    ):
        assert verify_click("Clicked", seen(*page), seen(*page, toast=toast)).startswith("OK")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Passwords don’t match", True),
        ("PIN must have 4 digits", True),
        ("Could not send", True),
        ("Wrong PIN", True),
        ("Message sent", False),
        ("Saved", False),
        ("Alarm set for 7:30", False),
        ("No problem", False),
    ],
)
def test_what_refuses_is_told_from_what_confirms(said: str, expected: bool) -> None:
    assert refuses(said) is expected


def test_every_app_has_a_name_and_a_guessed_one_is_marked() -> None:
    apps = with_names(
        (
            AppInfo(package="com.android.deskclock"),
            AppInfo(package="com.google.android.gm"),
            AppInfo(package="org.example.fieldNotes"),
            AppInfo(package="com.android.notes", label="My Notes"),
        ),
        load(),
    )
    assert [app_line(app) for app in apps] == [
        "- Clock (com.android.deskclock)",
        "- Gmail (com.google.android.gm)",
        "- ~Field Notes (org.example.fieldNotes)",
        "- My Notes (com.android.notes)",
    ]


@pytest.mark.parametrize("package", ["", ".", "com", "a.b.android", "com.x.123", "com.ex.app"])
def test_any_package_gives_a_name(package: str) -> None:
    assert name_of_package(package).strip()


def test_of_what_was_done_at_the_wheel_the_newest_is_told_and_every_word_kept() -> None:
    memory = Memory("read ten pages")
    for number in range(10):
        message_id = f"wheel-{number}"
        text = f"The operator took the wheel: act {number}. Look at the screen."
        note = f"word {number}" if number in {2, 7} else ""
        memory.fold(
            UserMessage(
                text=text, message_id=message_id, speaker=Speaker.PRODUCT, said=note, steer=True
            )
        )
        memory.fold(SteerApplied(message_id=message_id, step=number + 1))
    texts = [message.text for message in memory.conversation()[2:]]
    assert texts == [
        "The operator says: word 2",
        "The operator says: word 7",
        "The operator took the wheel: act 9. Look at the screen.",
    ]
    assert memory.words == ("read ten pages", "word 2", "word 7")


def test_what_the_operator_asks_for_again_is_told_again_once_it_was_done() -> None:
    memory = Memory("Play the next song")
    memory.fold(UserMessage(text="Play the next song", message_id="a"))
    memory.fold(TaskComplete(turn_id="t", last_agent_message="It plays."))
    memory.fold(UserMessage(text="Play the next song", message_id="b"))
    assert [m.kind for m in memory.messages].count(MessageKind.GOAL) == 2
