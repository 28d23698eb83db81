"""However a list cuts the goal, what was done is held against the thing that the goal names."""

import random
from collections.abc import Iterator

import pytest

from agent.loop.verification.coverage import Wished
from agent.loop.verification.scopes import is_detail, scopes
from agent.records import FieldFate, Requirement, SeenEffect, SeenEffectKind, UiNode
from tests.loop.paper_phone import APP, button, field, node
from tests.loop.verification.judged import (
    ADDED,
    FIELD,
    REMOVED,
    STATE,
    Work,
    accomplice,
    decide,
    effect,
    is_met,
    listed,
    says,
    sloppy,
)

NAMES = ("Ana Silva", "Ben Carter", "Grace Okafor", "Priya Raman", "Emil Novak", "Tom Becker")
SUBJECTS = ("Lake weekend", "Notes from Thursday", "Your bill is ready", "Budget for May")
TIMES = ("06:20", "07:45", "09:30", "16:45", "21:15")
FILES = ("boarding-pass.pdf", "invoice-1042.pdf", "map.png", "letter to Ana.txt")
VERBS = ("Delete {}", "Lösche {}", "Supprime {}", "{}を削除して", "Удали {}")
HEAD = node("All of them", (0.1, 0.02, 0.9, 0.06))


def shapes(dice: random.Random) -> Iterator[tuple[list[str], list[str]]]:
    """Yield lists of rows, each with what an operator may call its rows."""
    names = dice.sample(NAMES, 4)
    yield names, names
    subjects = dice.sample(SUBJECTS, 4)
    yield [f"{a} | {b} | hello" for a, b in zip(names, subjects, strict=True)], subjects
    numbers = dice.sample(range(1000, 9999), 4)
    yield [f"Order {n} | {n % 90 + 7}.50" for n in numbers], [f"№ {n}" for n in numbers]
    times = dice.sample(TIMES, 4)
    yield times, [time.lstrip("0") for time in times]
    files = dice.sample(FILES, 4)
    yield [f"{name} | 4 kB" for name in files], files


def page(rows: list[str]) -> tuple[UiNode, ...]:
    shown = (
        button(row, 0.2 + at * 0.1, resource_id=f"{APP}:id/row") for at, row in enumerate(rows)
    )
    return (HEAD, *shown)


def lists_of(goal: str, called: str, dealt_with: str) -> Iterator[tuple[Wished, ...]]:
    """Yield what models list: all of it, without the name, with the name of what was done."""
    row = dealt_with.partition(" | ")[0]
    yield (Wished(goal, object=called, value="gone"),)
    yield (Wished(goal, object=row, value="gone"),)
    yield (Wished(goal.replace(called, "").strip(), object=row, value="gone"),)
    yield (Wished(goal.replace(called, "").strip(), value="gone"), Wished(called, kind="condition"))


@pytest.mark.parametrize("seed", range(2))
def test_another_row_than_the_one_that_is_named_is_never_the_one(seed: int) -> None:
    dice = random.Random(seed)
    for rows, called in shapes(dice):
        goal = dice.choice(VERBS).format(called[0])
        for at in range(len(rows)):
            left = rows[:at] + rows[at + 1 :]
            for wished in lists_of(goal, called[0], rows[at]):
                work = Work(goal).see(*page(rows)).act()
                work.see(*page(left), effects=(effect(REMOVED, rows[at], page="All of them"),))
                for witness in (accomplice(), sloppy()):
                    found = is_met(decide(work, listed(goal, *wished), witness))
                    assert at == 0 or not found, (goal, rows[at], wished)
        work = Work(goal).see(*page(rows)).act()
        work.see(*page(rows[1:]), effects=(effect(REMOVED, rows[0], page="All of them"),))
        whole = listed(goal, Wished(goal, object=called[0], value="gone"))
        assert is_met(decide(work, whole, says("met", "E1"))), goal


@pytest.mark.parametrize("seed", range(2))
def test_what_is_told_stands_beside_what_is_asked_for(seed: int) -> None:
    dice = random.Random(seed)
    for rows, called in shapes(dice):
        numbers = dice.sample(range(100, 999), len(rows))
        shown = [f"{row} | {n}.50" for row, n in zip(rows, numbers, strict=True)]
        asked = dice.choice(("How much is {}?", "Wie viel kostet {}?", "{} はいくらですか"))
        goal = asked.format(called[0])
        work = Work(goal).see(*page(shown))
        for at, number in enumerate(numbers):
            for text in (goal, goal.replace(called[0], "").strip()):
                required = listed(goal, Wished(text, kind="tell"))
                answer = f"It is {number}.50."
                found = is_met(decide(work, required, accomplice(), answer=answer))
                assert not found or at == 0, (goal, shown[at])
        right, required = f"It is {numbers[0]}.50.", listed(goal, Wished(goal, kind="tell"))
        assert is_met(decide(work, required, says("met", "S1[2]"), answer=right))


@pytest.mark.parametrize("folder", ["Documents", "Documentos", "ドキュメント"])
def test_what_is_made_in_another_place_is_not_made_there(folder: str) -> None:
    goal = f"{folder}: make a folder 'Travel'"
    root = page([f"{folder} | Folder", "Download | Folder", "Music | Folder"])
    for place in (folder, "Download"):
        made = effect(ADDED, "Travel | Folder", page=place)
        inside = node(place, (0.1, 0.02, 0.9, 0.06)), button("Travel | Folder", 0.3)
        work = Work(goal).see(*root).act().see(inside[0]).act().see(*inside, effects=(made,))
        for text in (goal, "make a folder 'Travel'"):
            required = listed(goal, Wished(text, object="Travel"))
            assert is_met(decide(work, required, accomplice())) is (place == folder), (place, text)


KINDS = {
    "a name": ("Hiro Sato", "Hiro Tanaka"),
    "an address": ("hiro@example.org", "h.sato@example.net"),
    "a number": ("+81 90 5555 0114", "+81 90 5555 0199"),
    "a day": ("2026-12-04", "2026-12-05"),
    "a time": ("15:15", "16:30"),
}


@pytest.mark.parametrize("wanted", KINDS)
def test_a_value_is_written_where_its_kind_was(wanted: str) -> None:
    old, new = KINDS[wanted]
    goal = f"Change {old} to {new}"
    for place, (before, _) in KINDS.items():
        now = [
            field(name, 0.2 + 0.1 * at, new if name == place else held)
            for at, (name, (held, _)) in enumerate(KINDS.items())
        ]
        before_it = [field(k, 0.2 + 0.1 * at, v) for at, (k, (v, _)) in enumerate(KINDS.items())]
        written = effect(FIELD, place, new, before, saved=FieldFate.SAVED)
        work = Work(goal).see(HEAD, *before_it).act().see(HEAD, *now, effects=(written,))
        assert is_met(decide(work, listed(goal, Wished(goal)), accomplice())) is (place == wanted)


@pytest.mark.parametrize("verb", ["Archive", "Mute", "封存"])
def test_what_went_by_another_button_than_the_named_one_did_not_go_so(verb: str) -> None:
    goal = f"{verb} the mail from Linewire"
    for pressed in (verb, "Delete"):
        buttons = (
            button(verb, 0.1, class_name="android.widget.Button"),
            button("Delete", 0.15, class_name="android.widget.Button"),
        )
        gone = effect(REMOVED, "Linewire | Your bill is ready")
        work = Work(goal).see(HEAD, *buttons).act(pressed=pressed).see(HEAD, effects=(gone,))
        required = listed(goal, Wished(goal, object="Linewire", value="gone"))
        assert is_met(decide(work, required, accomplice())) is (pressed == verb), pressed


def test_of_two_switches_in_one_part_each_is_turned_or_listed_by_itself() -> None:
    goal = "Active le Bluetooth et désactive le NFC"
    for turned in (("Bluetooth",), ("Bluetooth", "NFC")):
        states = [effect(STATE, name, "on", "off") for name in turned]
        rows = [
            button(name, 0.3 + 0.1 * at, checkable=True, class_name="android.widget.Switch")
            for at, name in enumerate(("Bluetooth", "NFC", "Airplane mode"))
        ]
        work = Work(goal).see(HEAD, *rows).act().see(HEAD, *rows, effects=states)
        required = listed(goal, Wished(goal, object="Bluetooth", value="on"))
        assert is_met(decide(work, required, accomplice())) is (len(turned) == 2), turned


def toast_and(*more: SeenEffect) -> list[SeenEffect]:
    return [effect(SeenEffectKind.TOAST, "Event saved"), *more]


def test_a_toast_of_what_was_taken_back_shows_nothing() -> None:
    goal = "Crea un evento 'Cena'"
    work = Work(goal).see(HEAD).act().see(HEAD, effects=toast_and(effect(ADDED, "Cena"))).act()
    assert is_met(decide(work, listed(goal, Wished(goal)), says("met", "E1", "E2")))
    work.see(HEAD, effects=(effect(REMOVED, "Cena"),))
    for pointers in (("E1",), ("E1", "E2"), ("E1", "E2", "E3")):
        assert not is_met(decide(work, listed(goal, Wished(goal)), says("met", *pointers)))


def test_each_word_of_a_goal_belongs_to_the_part_beside_it() -> None:
    goal = "Pinne die Notiz 'Books to read' an und lösche die Notiz 'Packing list'"
    cut = [Requirement(number=1, text="Pinne die Notiz an"), Requirement(number=2, text="lösche")]
    own = scopes(cut, goal)
    assert "Books" in own[1].own and "Packing" not in own[1].own
    assert "Packing" in own[2].own and "Books" not in own[2].own
    assert is_detail(Requirement(number=1, text="um 9:30"))
    assert not is_detail(Requirement(number=1, text="except the one at 9:30"))
    assert not is_detail(Requirement(number=1, text="7時のアラームはオフ"))


@pytest.mark.parametrize("goal", ["Turn on Wi-Fi", "Turn on the alarm at 9:30 in the Page"])
def test_to_have_a_switch_in_front_is_not_to_have_turned_it(goal: str) -> None:
    name = "Wi-Fi" if "Wi-Fi" in goal else "09:30"
    row = button(name, 0.4, checkable=True, class_name="android.widget.Switch")
    for act in ("launch_app", "click_element"):
        work = Work(goal).see(HEAD).act(act, arguments='{"app": "Page"}').see(HEAD, row)
        for witness in (accomplice(), sloppy(), says("met", "S2[1]")):
            assert not is_met(decide(work, listed(goal, Wished(goal, kind="any")), witness)), act
            assert not is_met(decide(work, listed(goal), witness)), act


def test_a_yes_to_something_else_shows_nothing() -> None:
    goal = "Turn on Bluetooth"
    for asked, is_of_it in (("Internet | Networks available", False), ("Bluetooth", True)):
        agreed = effect(SeenEffectKind.APPROVED, asked, f'Press "{asked}" in Settings?')
        work = Work(goal).see(HEAD).act().see(HEAD, effects=(agreed,))
        assert is_met(decide(work, listed(goal, Wished(goal)), accomplice())) is is_of_it, asked


def test_a_choice_of_a_dialog_is_no_switch_that_was_left_out() -> None:
    goal = "Set the screen timeout to 2 minutes"
    options = [
        button(
            f"{n} minutes", 0.2 + 0.1 * n, checkable=True, class_name="android.widget.RadioButton"
        )
        for n in (2, 5)
    ]
    chosen = effect(STATE, "Screen timeout", "2 minutes", "1 minute")
    work = Work(goal).see(HEAD).act().see(HEAD, *options).act().see(HEAD, effects=(chosen,))
    assert is_met(decide(work, listed(goal, Wished(goal)), says("met", "E1")))
