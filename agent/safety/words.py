"""Match words in labels that a hostile app may have written.

Not a redactor and not a policy. Invariant: two texts that look alike to a person give the same
words: they are those of the skeleton (`agent.language.fold`).
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from agent.language.currencies import AFTER, CURRENCY, NUMBER
from agent.language.fold import skeleton
from agent.language.tokens import is_unspaced, split_words, tokens

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FEW_WORDS = 5
_MAX_PRICE_CHARS = 60
_PRICE = re.compile(
    rf"\s*(?:{CURRENCY}\s*{NUMBER}|{NUMBER}\s*{AFTER})"
    r"\s*(?:/\s*|per\s+|a\s+)?(?:mo|month|yr|year|wk|week|day)?\.?\s*",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return the words of a text in order, folded by `skeleton`.

    Spaced letters are one word, and so are the letters of a script without blanks that stand
    together: `agent.safety.effects.lexicon` looks inside of those.
    """
    flat = skeleton(text)
    found = split_words(flat) if flat.isascii() else tuple(_runs(flat))
    if sum(len(word) == 1 for word in found) < 3:
        return found
    return tuple(_joined(found))


def id_words(resource_id: str) -> tuple[str, ...]:
    """Return the words of a resource id's own name: `com.x:id/btn_sendNow` → btn, send, now."""
    return words(_CAMEL.sub(" ", resource_id.rsplit("/", 1)[-1]).replace("_", " "))


def joined_words(found: tuple[str, ...]) -> str:
    """Return the few words of a label as one, without a number before or after them.

    Longer labels give nothing: joined anywhere, words would make others by chance.
    """
    if len(found) > _FEW_WORDS:
        return ""
    return "".join(found).strip("0123456789")


@lru_cache(maxsize=8192)
def is_price(text: str) -> bool:
    """Return whether a label says nothing but what something costs, as a button that buys may."""
    if len(text) > _MAX_PRICE_CHARS:
        return False
    # The number may be the text of a button and what it is of its description.
    whole = _PRICE.fullmatch(text.replace(" | ", " "))
    return whole is not None or all(map(_PRICE.fullmatch, text.split(" | ")))


def _runs(text: str) -> Iterator[str]:
    start = end = 0
    for token in tokens(text):
        if end and (token.start != end or not is_unspaced(token.text)):
            yield text[start:end]
            start = end = token.start
        elif not end:
            start = token.start
        end = token.end
    if end:
        yield text[start:end]


def _joined(found: tuple[str, ...]) -> list[str]:
    """Join runs of three or more single letters: "P a y" is read as a word."""
    joined: list[str] = []
    run = ""
    for word in [*found, ""]:
        if len(word) == 1 and word.isalpha():
            run += word
            continue
        joined += [run] if len(run) > 2 else list(run)
        run = ""
        joined += [word] if word else []
    return joined
