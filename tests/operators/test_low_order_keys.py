"""Ed25519 keys that need no private key are refused, however they are written.

The points are computed here, after RFC 8032 (5.1), and not taken from the program's own list.
"""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from agent.errors import UsageError
from agent.operators.keys import is_low_order, make_key, public_of, verifies

_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P
Point = tuple[int, int]


def _sum(one: Point, other: Point) -> Point:
    (x1, y1), (x2, y2) = one, other
    both = _D * x1 * x2 * y1 * y2 % _P
    x = (x1 * y2 + x2 * y1) * pow(1 + both, -1, _P) % _P
    y = (y1 * y2 + x1 * x2) * pow(1 - both, -1, _P) % _P
    return x, y


def _on_curve(y: int) -> int | None:
    """Return the even x of a y; None where there is none."""
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if x * x % _P != square:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    return x if x * x % _P == square else None


def _multiplied(point: Point, by: int) -> Point:
    result: Point = (0, 1)
    for bit in bin(by)[2:]:
        result = _sum(result, result)
        if bit == "1":
            result = _sum(result, point)
    return result


def _torsion() -> set[Point]:
    """Return the eight points whose order divides eight: any point, times the group's odd order."""
    order = 2**252 + 27742317777372353535851937790883648493
    y = 2
    while True:
        x = _on_curve(y)
        if x is not None:
            found = _multiplied((x, y), order)
            if _multiplied(found, 4) != (0, 1):
                return {_multiplied(found, times) for times in range(8)}
        y += 1


ENCODED = sorted(
    {
        (y | sign << 255).to_bytes(32, "little")
        for _, low in _torsion()
        # A coordinate may be written with the field's size added, where it still fits.
        for y in (low, low + _P)
        if y < 2**255
        for sign in (0, 1)
    }
)


def test_there_are_eight_of_them() -> None:
    assert len(_torsion()) == 8
    assert len(ENCODED) == 14


@pytest.mark.parametrize("public", ENCODED, ids=bytes.hex)
def test_nothing_is_signed_by_a_key_that_needs_no_private_one(public: bytes) -> None:
    assert is_low_order(public)
    for words in (b"", b"anything", b"\0" * 40):
        for first in ENCODED:
            assert not verifies(public, first + bytes(32), words)


@pytest.mark.parametrize("public", ENCODED, ids=bytes.hex)
def test_none_of_them_is_taken_for_an_operators_key(public: bytes) -> None:
    try:
        key = Ed25519PublicKey.from_public_bytes(public)
    except ValueError:
        return
    line = key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    with pytest.raises(UsageError, match="anyone can sign"):
        public_of(line)


def test_without_the_list_they_would_have_opened_a_door() -> None:
    """The library by itself takes such a signature: so the list is needed."""
    opened = 0
    for public in ENCODED:
        for first in ENCODED:
            try:
                key = Ed25519PublicKey.from_public_bytes(public)
                key.verify(first + bytes(32), b"words of a challenge")
            except Exception:
                continue
            opened += 1
    assert opened


def test_a_key_that_was_made_is_none_of_them(tmp_path: object) -> None:
    from pathlib import Path

    for number in range(20):
        assert not is_low_order(public_of(make_key(Path(str(tmp_path)) / str(number))))
