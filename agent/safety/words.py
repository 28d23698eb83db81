"""Match words in labels that a hostile app may have written.

Not a redactor and not a policy. Invariant: two texts that look alike to a person give the same
words: compatibility forms are folded, marks are dropped, and letters that Cyrillic and Greek share
with Latin by shape are taken as Latin.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Shapes from Unicode's confusables table (UTS 39), the letters that English keywords need.
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁԛԝһӏмтвнкгΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεικνορτυχγωςɡıʟᴘᴀʏ",
    "aeopcyxijsdqwhlmtbhkrabezhikmnoptyxaeiknoptyxywsgilpay",
)
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def skeleton(text: str) -> str:
    """Fold a text to what it looks like: lower-case, unmarked, Latin where it looks Latin."""
    folded = unicodedata.normalize("NFKD", text[:4000]).translate(_LOOK_ALIKES)
    folded = folded.casefold().translate(_LOOK_ALIKES)
    return "".join(c for c in folded if not unicodedata.combining(c) and c not in "\u00ad\u200b")


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Give the words of a text in order, folded by `skeleton`."""
    return tuple(_WORD.findall(skeleton(text)))


def id_words(resource_id: str) -> tuple[str, ...]:
    """Give the words of a resource id's own name: `com.x:id/btn_sendNow` → btn, send, now."""
    return words(_CAMEL.sub(" ", resource_id.rsplit("/", 1)[-1]).replace("_", " "))


def has_phrase(haystack: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    """Tell whether the words of a phrase stand side by side, in order."""
    span = len(phrase)
    return any(haystack[at : at + span] == phrase for at in range(len(haystack) - span + 1))
