"""Put stand-ins in the place of words that tell of a person, the same for the same word.

A stand-in keeps what readers may depend on: the number of characters, the kind of each letter
(upper, lower, digit, its script), and everything that is no letter. Invariants: within one
recording a word has one stand-in, whatever its case; the key is random and kept nowhere, so none
can be undone; a word is never its own stand-in.
"""

import hashlib
import hmac
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from secrets import token_bytes

_WORD = re.compile(r"[^\W_]+")
_LOWER, _UPPER, _DIGITS, _HEX = (
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "0123456789",
    "abcdef",
)
_BLOCK = 64
"""Letters of the same sort this near each other are of the same script."""
_SAMPLES = 3


class Personal(StrEnum):
    """What is replaced."""

    SERIAL = "serial numbers"
    NAME = "names of users and accounts"
    TEXT = "texts of notifications"
    TAG = "tags and groups of notifications"
    TITLE = "titles of windows"
    SCREEN = "texts on the screen"
    FIELD = "texts and hints of fields"
    LINK = "addresses that were opened"
    MAIL = "mail addresses"
    PHONE = "phone numbers"
    DEVICE_ID = "IMEI and other long numbers"
    MAC = "MAC addresses"
    IP = "IP addresses"
    NETWORK = "names of networks"


@dataclass
class StandIns:
    """The stand-ins of one recording, and what was replaced by them.

    Attributes:
        counts: how often something was replaced, by kind.
        samples: a few of what was replaced, for the person at whose computer it is.
    """

    key: bytes = field(default_factory=lambda: token_bytes(32))
    counts: Counter[Personal] = field(default_factory=Counter)
    samples: dict[Personal, list[tuple[str, str]]] = field(default_factory=dict)

    def text(self, kind: Personal, said: str) -> str:
        """Return a text with a stand-in for every word of it, and count it."""
        made = _WORD.sub(lambda found: self._word(found[0], _letter), said)
        return self._count(kind, said, made)

    def hexadecimal(self, kind: Personal, said: str) -> str:
        """Return the stand-in of hexadecimal digits, which are still such."""
        return self._count(kind, said, _WORD.sub(lambda w: self._word(w[0], _hex_letter), said))

    def address(self, said: str) -> str:
        """Return the stand-in of an IPv4 address: each number of it stays below 256."""
        made = ".".join(self._octet(octet) for octet in said.split("."))
        return self._count(Personal.IP, said, made)

    def _count(self, kind: Personal, said: str, made: str) -> str:
        if made != said:
            self.counts[kind] += 1
            samples = self.samples.setdefault(kind, [])
            if len(samples) < _SAMPLES and (said, made) not in samples:
                samples.append((said, made))
        return made

    def _octet(self, octet: str) -> str:
        made = self._word(octet, _letter)
        return f"1{made[1:]}" if len(octet) == 3 else made

    def _word(self, word: str, letter: Callable[[str, int], str]) -> str:
        for attempt in range(8):
            seed = hmac.digest(self.key, f"{attempt} {word.casefold()}".encode(), hashlib.sha256)
            stream = hashlib.shake_256(seed).digest(2 * len(word))
            made = "".join(
                letter(character, int.from_bytes(stream[2 * at : 2 * at + 2]))
                for at, character in enumerate(word)
            )
            if made != word:
                return made
        # Its letters have no others of their sort, as some signs have.
        return word


def _letter(character: str, chance: int) -> str:
    """Return a letter of the same sort and script."""
    letters = _alike(character)
    return letters[chance % len(letters)]


def _hex_letter(character: str, chance: int) -> str:
    if character in _DIGITS:
        return _DIGITS[chance % 10]
    found = _HEX[chance % 6]
    return found.upper() if character.isupper() else found


@cache
def _alike(character: str) -> str:
    for letters in (_LOWER, _UPPER, _DIGITS):
        if character in letters:
            return letters
    sort = unicodedata.category(character)
    if not sort.startswith(("L", "N")):
        return character
    start = ord(character) // _BLOCK * _BLOCK
    return "".join(
        chr(code)
        for code in range(start, start + _BLOCK)
        if unicodedata.category(chr(code)) == sort and _WORD.fullmatch(chr(code))
    )
