"""Throw random input at the gate: sequences of the grammar, cut, mutated, doubled, with pauses.

`python -m tests.console.terminal_input.fuzz --inputs 1000000` runs a million; `--seed N` repeats.
Whatever comes in: no exception; no act of the operator from an answer; bounded memory; after a
pause a key is that key.
"""

import argparse
import random
import sys
import time
from itertools import pairwise

from textual.events import InputEvent, Paste
from textual.message import Message

from console.terminal_input.grammar import MOST_BODY_BYTES, MOST_CSI_BYTES
from tests.console.terminal_input.gate_seat import GateSeat, names
from tests.console.terminal_input.sent import ALL, REPLIES, SILENT_KEYS

PLAIN = ("k", "x", "1", "?", "\x18", "\r")
KEY_OF = {"?": "question_mark", "\x18": "ctrl+x", "\r": "enter"}
SETTLED_S = 6.0
_NO_ACTS = (*REPLIES, *SILENT_KEYS)
_STRINGS = (b"\x1b]", b"\x1bP", b"\x1b_", b"\x1b^", b"\x1bX", b"\xc2\x9d")
_OPENERS = (b"\x1b[", b"\x1bO", b"\x9b", *_STRINGS)
_FINALS = bytes(range(0x40, 0x7F))
_PARAMETERS = b"0123456789;:<=>?"
_BETWEEN = bytes(range(0x20, 0x30))
_ENDS = (b"\x1b\\", b"\x07", b"\x9c", b"\xc2\x9c", b"", b"\x1b", b"\x18")


def some(draw: random.Random, alphabet: bytes, most: int) -> bytes:
    return bytes(draw.choices(alphabet, k=draw.randrange(most + 1)))


def made_up(draw: random.Random) -> bytes:
    """Return a sequence by the grammar, of any kind, that nobody sends."""
    opener = draw.choice(_OPENERS)
    if opener in (b"\x1b[", b"\x9b"):
        marks = some(draw, b"<=>?", 1)
        return (
            opener
            + marks
            + some(draw, _PARAMETERS, draw.choice((3, 12, 300)))
            + some(draw, _BETWEEN, 2)
            + bytes([draw.choice(_FINALS)])
        )
    if opener == b"\x1bO":
        return opener + some(draw, b"0123456789;", 2) + bytes([draw.choice(_FINALS)])
    body = draw.randbytes(draw.choice((0, 4, 40, 40, 400)))
    return opener + body + draw.choice(_ENDS)


def answer(draw: random.Random) -> bytes:
    """Return an answer by the grammar with other numbers: a private mark, an intermediate."""
    numbers = b";".join(b"%d" % draw.randrange(70_000) for _ in range(draw.randrange(1, 6)))
    text = some(draw, b"abc/;:=-xpnOK,\r\n\t 1", 30)
    between, final = draw.choice(b" !\"$&'*+,"), draw.choice(b"yzwxqp")
    return draw.choice(
        (
            b"\x1b[?" + numbers + bytes([draw.choice(b"cnuRSmx")]),
            b"\x1b[>" + numbers + bytes([draw.choice(b"cmqu")]),
            b"\x1b[?" + numbers + b"$y",
            b"\x1b[" + numbers + bytes([between, final]),
            b"\x1b]" + numbers + text + draw.choice((b"\x1b\\", b"\x07")),
            b"\x1bP" + numbers + b"$r" + text + b"\x1b\\",
            b"\x1b_G" + text + b"\x1b\\",
        )
    )


def mutated(draw: random.Random, raw: bytes) -> bytes:
    """Return bytes with one of them lost, doubled or another."""
    if not raw:
        return raw
    at = draw.randrange(len(raw))
    what = draw.randrange(4)
    if what == 0:
        return raw[:at] + raw[at + 1 :]
    if what == 1:
        return raw[:at] + raw[at : at + 1] + raw[at:]
    if what == 2:
        return raw[:at] + draw.randbytes(1) + raw[at + 1 :]
    return raw[:at] + draw.choice(_OPENERS) + raw[at:]


def pieces_of(draw: random.Random, whole: bytes, most: int) -> list[bytes]:
    cuts = [draw.randrange(len(whole) + 1) for _ in range(draw.randrange(most + 1))]
    return [whole[a:b] for a, b in pairwise(sorted({0, *cuts, len(whole)}))]


def acts(events: list[Message]) -> list[Message]:
    return [one for one in events if isinstance(one, InputEvent | Paste)]


def is_answers_only(draw: random.Random) -> None:
    """Throw answers and silent keys, cut anywhere: none of them acts."""
    parts = [
        answer(draw) if draw.random() < 0.5 else draw.choice(_NO_ACTS).raw
        for _ in range(draw.randrange(1, 6))
    ]
    whole = b"".join(parts + parts[-1:] * draw.randrange(2))
    seat = GateSeat(is_awaited=draw.random() < 0.5)
    for piece in pieces_of(draw, whole, 5):
        found = acts(seat.read(piece, gap_s=draw.choice((0.0, 0.0, 0.05))))
        assert not found, (whole, piece, found)
    settle(draw, seat, whole)


def is_anything(draw: random.Random) -> None:
    """Throw anything: nothing raises, nothing is kept."""
    parts = []
    for _ in range(draw.randrange(1, 6)):
        raw = draw.choice(
            (made_up(draw), draw.choice(ALL).raw, answer(draw), draw.randbytes(draw.randrange(6)))
        )
        parts.append(mutated(draw, raw) if draw.random() < 0.6 else raw)
    whole = b"".join(parts)
    seat = GateSeat(is_awaited=draw.random() < 0.5)
    for piece in pieces_of(draw, whole, 6):
        seat.read(piece, gap_s=draw.choice((0.0, 0.0, 0.0, 0.2, 0.7, 3.5)))
    assert len(seat.gate._grammar.held) <= MOST_BODY_BYTES + MOST_CSI_BYTES
    settle(draw, seat, whole)


def settle(draw: random.Random, seat: GateSeat, whole: bytes) -> None:
    """Let time pass, after which a key is that key."""
    seat.wait(SETTLED_S)
    key = draw.choice(PLAIN)
    found = names(seat.read(key.encode()))
    assert found == [KEY_OF.get(key, key)], (whole, key, found)
    assert not seat.failed, (whole, seat.failed)


def one_input(draw: random.Random) -> None:
    """Throw one input of a kind that is drawn."""
    draw.choice((is_answers_only, is_anything))(draw)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--inputs", type=int, default=1_000_000)
    options.add_argument("--seconds", type=float, default=float("inf"))
    options.add_argument("--seed", type=int, default=random.randrange(2**32))
    chosen = options.parse_args()
    begun_s = time.monotonic()
    done = 0
    while done < chosen.inputs and time.monotonic() - begun_s < chosen.seconds:
        # Each has a seed of its own, so that one can be repeated without those before it.
        seed = chosen.seed + done
        try:
            one_input(random.Random(seed))
        except Exception:
            print(f"input {done}: --seed {seed} --inputs 1", file=sys.stderr)
            raise
        done += 1
    took_s = time.monotonic() - begun_s
    print(f"{done} inputs from seed {chosen.seed} in {took_s:.0f} s: none acted or raised.")
    return 0


if __name__ == "__main__":
    import logging

    logging.disable(logging.CRITICAL)
    sys.exit(main())
