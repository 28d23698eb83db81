"""Rows that fit the operator's words equally are said, and a row that is meant alone is not."""

import pytest

from agent.loop.signals.equal_rows import equal_rows_warning
from agent.records import Element
from tests.loop.paper_phone import button, node
from tests.loop.test_changes import seen


def rows(*labels: str, extra: str = "") -> tuple[Element, ...]:
    listed = [button(label, 0.1 + n / 15) for n, label in enumerate(labels)]
    return seen(*listed, node(extra, (0.1, 0.9, 0.9, 0.95))).elements


THREADS = ("Ben Carter | Thanks", "Ana Silva | Perfect", "Ben Okafor | See you", "Dad | Call me")
ASKED = (
    ("Text Ben that I am late", THREADS),
    ("text ben that I am late", THREADS),
    ("Écris à Ben que je suis en retard", THREADS),
    ("Schreib Ben, dass ich später komme", THREADS),
    ("ベンに遅れると送って Ben", THREADS),
    ("Call Mum", ("Mum", "Dad", "Mum")),
    ("Open the note about the Trip", ("Trip to Rome", "Books", "Trip to Oslo")),
)
CLEAR = (
    ("Text Ben Carter that I am late", THREADS),
    ("Text Dad", THREADS),
    ("Text Ana", THREADS),
    ("Open the list", ("The list", "The plan", "Books")),
    ("Show me what is new in the shop", ("The boots", "The lamp", "The mug")),
    ("Cancel order 1042", ("Order 1042 | Shipped", "Order 1050 | Placed")),
    # The rest of the row tells them apart.
    ("Text the Ben who said thanks", THREADS),
    # What all rows have is what the list is about.
    ("Read my Note", tuple(f"Note {letter}" for letter in "abcdef")),
)


@pytest.mark.parametrize(("goal", "labels"), ASKED)
def test_the_model_is_told_to_ask(goal: str, labels: tuple[str, ...]) -> None:
    shown = rows(*labels, extra="the list of the phone")
    said = equal_rows_warning([goal], shown)
    assert said.startswith("WARNING: ") and said.endswith("ask.")
    assert said.count("[") == 2


@pytest.mark.parametrize(("goal", "labels"), CLEAR)
def test_nothing_is_asked_where_one_is_meant(goal: str, labels: tuple[str, ...]) -> None:
    assert equal_rows_warning([goal], rows(*labels, extra="the list of the phone")) == ""


def test_an_answer_ends_it() -> None:
    assert equal_rows_warning(["Text Ben", "Answer: Ben Okafor"], rows(*THREADS)) == ""
