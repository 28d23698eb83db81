"""Random input by the grammar, cut and mutated: a short form of `fuzz`, and what it would find."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.terminal_input.grammar import Grammar
from console.terminal_input.meanings import Meaning, Meanings
from tests.console.terminal_input import fuzz

INPUTS = 40  # Of each example.


@given(seed=st.integers(0, 2**32 - 1))
def test_no_input_raises_acts_as_an_answer_or_leaves_anything(seed: int) -> None:
    for number in range(INPUTS):
        fuzz.one_input(random.Random(seed + number))


def test_it_finds_a_reader_that_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Meanings.of

    def wrong(self: Meanings, one: object) -> Meaning:
        if b":3" in one.body:  # type: ignore[attr-defined]
            raise ValueError("an event type")
        return right(self, one)  # type: ignore[arg-type]

    monkeypatch.setattr(Meanings, "of", wrong)
    with pytest.raises(AssertionError):
        for seed in range(2_000):
            fuzz.one_input(random.Random(seed))


def test_it_finds_an_answer_that_acts_and_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, pytest.raises(AssertionError):
        patch.setattr("console.terminal_input.grammar._C1", {})
        for seed in range(2_000):
            fuzz.one_input(random.Random(seed))
    with monkeypatch.context() as patch, pytest.raises(AssertionError):
        patch.setattr(Grammar, "drop", lambda self: b"")
        for seed in range(2_000):
            fuzz.one_input(random.Random(seed))


@pytest.mark.parametrize(
    "raw", [b"\x1b[1;", b"\x1b]11;", b"\x1bP", b"\x1b[200~", b"\x1b", b"\xf0\x9f", b"\x1b[<0;1;1"]
)
def test_what_is_looked_at_grows_with_what_is_read(raw: bytes) -> None:
    looked: list[int] = []

    class Counted(Grammar):
        def feed(self, data: bytes) -> list[object]:  # type: ignore[override]
            looked.append(len(self._rest) + len(data))
            return super().feed(data)  # type: ignore[return-value]

    grammar = Counted()
    for byte in raw + b"1" * 20_000:
        grammar.feed(bytes([byte]))
    first, second = sum(looked[:10_000]), sum(looked[10_000:])
    assert second <= 2 * first
