"""Keys of a pad and steppers may be pressed again and again; other buttons may not."""

from agent.loop.screen.elements import number_elements
from agent.loop.signals.keypad import is_keypad, is_repeatable
from agent.records import Element
from tests.loop.paper_phone import node

KEYS = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "delete", "0", "OK")


def screen(*labels: str) -> tuple[Element, ...]:
    nodes = [
        node(
            label,
            (0.3 * (n % 3), 0.2 + 0.1 * (n // 3), 0.3 * (n % 3) + 0.25, 0.28 + 0.1 * (n // 3)),
            clickable=True,
        )
        for n, label in enumerate(labels)
    ]
    return number_elements(nodes, redact=str)


def repeatable(*labels: str) -> set[str]:
    shown = screen(*labels)
    return {element.label for element in shown if is_repeatable(element, shown)}


def test_digits_and_delete_of_a_pad_are_repeatable_and_its_ok_is_not() -> None:
    assert is_keypad(screen(*KEYS))
    assert repeatable(*KEYS) == set(KEYS) - {"OK"}


def test_steppers_are_repeatable_anywhere_and_delete_only_on_a_pad() -> None:
    assert repeatable("Increase quantity", "+", "Delete", "Add to cart", "2") == {
        "Increase quantity",
        "+",
    }
