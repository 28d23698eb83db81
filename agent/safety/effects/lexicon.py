"""What the words of a screen are about, in the twenty languages of the phrasebook.

The words are `lexicon.toml`; the verbs of buttons are `agent.safety.phrasebook`'s. Invariants: the
longest phrase that stands at a place counts, so that "cancel order" is not read as "cancel";
phrases go through the same folding as the labels that they are compared with.
"""

import re
import tomllib
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import Path

import msgspec

from agent.language.fold import skeleton
from agent.safety.words import words

FILE = Path(__file__).with_name("lexicon.toml")
_GLUED = frozenset({"zh", "ja", "ko", "th", "ar", "hi", "he"})
"""Languages whose phrases stand inside longer words."""
_UNSPACED = frozenset({"zh", "ja", "th"})
_MAX_CHARS = 600
_BETWEEN = re.compile(r"[\s\-_.·・•|/\u0640]+")
_SUFFIX = 3
"""How many more characters a button of a language without spaces may have than its phrase: the
ending of a verb."""


class Meaning(StrEnum):
    """What a phrase is about; the tables of `lexicon.toml`."""

    CART = "cart"
    CHECKOUT = "checkout"
    BASKET = "basket"
    REFUSE = "refuse"
    PROCEED = "proceed"
    OPENER = "opener"
    MONEY = "money"
    RECIPIENT = "recipient"
    AMOUNT = "amount"
    PIN = "pin"
    SLIDE = "slide"
    ARCHIVE = "archive"
    CANCEL = "cancel"
    WIPE = "wipe"
    OVERWRITE = "overwrite"
    SIGN_OUT = "sign_out"
    SIGN_UP = "sign_up"
    AIRPLANE = "airplane"
    NETWORK = "network"
    LOCK = "lock"
    PROTECTION = "protection"
    PERMIT = "permit"
    LEAVE = "leave"
    PUBLISH = "publish"
    CARRY = "carry"
    SEARCH = "search"
    MESSAGE = "message"
    SUCCESS = "success"
    FOLDER = "folder"
    DRAFT = "draft"
    HANG_UP = "hang_up"
    SCOPE = "scope"
    RESET = "reset"
    DONE = "done"
    DEVELOPER = "developer"
    ATTEND = "attend"
    MAYBE = "maybe"
    WARNING = "warning"
    SOCIAL = "social"
    BINDING = "binding"
    ADDRESSING = "addressing"
    OUTSIDER = "outsider"
    SIGN_IN = "sign_in"
    UNLOCK = "unlock"
    MEDIA = "media"
    SCHEDULING = "scheduling"
    SIGNATURE = "signature"
    REMOVE = "remove"
    UPLOAD = "upload"
    APPROVE = "approve"
    DECLINE = "decline"
    AUDIENCE = "audience"
    EVERYONE = "everyone"
    SEEN = "seen"
    ERASED = "erased"
    JOIN = "join"
    MEETING = "meeting"
    CLAIM = "claim"
    HARMLESS = "harmless"
    COMMIT = "commit"
    CONSENT = "consent"
    DEVICE = "device"
    OPERATED = "operated"
    SHARED = "shared"
    LASTING = "lasting"
    FINAL = "final"
    NEW = "new"


OUTCOMES = frozenset(
    {
        *(Meaning.APPROVE, Meaning.DECLINE, Meaning.AUDIENCE, Meaning.EVERYONE, Meaning.SEEN),
        *(Meaning.ERASED, Meaning.JOIN, Meaning.MEETING, Meaning.CLAIM, Meaning.HARMLESS),
        *(Meaning.COMMIT, Meaning.CONSENT, Meaning.DEVICE, Meaning.OPERATED),
        *(Meaning.SHARED, Meaning.LASTING, Meaning.FINAL, Meaning.NEW),
    }
)
"""Read only by `agent.safety.effects.structure.outcome`, for titles and for what undoes an act.
Beside an amount or a written text, a word of these counts as unknown."""
_WHOLE_ONLY = frozenset(
    {
        *(Meaning.ATTEND, Meaning.MAYBE, Meaning.SOCIAL, Meaning.BINDING, Meaning.ADDRESSING),
        *(Meaning.APPROVE, Meaning.DECLINE, Meaning.EVERYONE, Meaning.JOIN, Meaning.CLAIM),
        *(
            Meaning.COMMIT,
            Meaning.OPERATED,
            Meaning.HARMLESS,
            Meaning.UPLOAD,
            Meaning.UNLOCK,
            Meaning.MEDIA,
            Meaning.SCHEDULING,
        ),
        *(Meaning.REFUSE, Meaning.PROCEED, Meaning.OPENER, Meaning.RECIPIENT, Meaning.SEARCH),
        *(
            Meaning.LOCK,
            Meaning.FOLDER,
            Meaning.SCOPE,
            Meaning.NETWORK,
            Meaning.CHECKOUT,
            Meaning.RESET,
        ),
        Meaning.DONE,
    }
)
"""Short words that stand inside others by chance: where words are glued they count at the
beginning only."""


class Reading(msgspec.Struct, frozen=True):
    """What a text is about.

    Args:
        found: the meanings of the phrases in it.
        head: those of the phrase that it begins with.
        whole: those of the phrase that is all of it.
    """

    found: frozenset[Meaning] = frozenset()
    head: frozenset[Meaning] = frozenset()
    whole: frozenset[Meaning] = frozenset()


NOTHING = Reading()
_Entry = tuple[tuple[str, ...], bool, frozenset[Meaning]]
"""A phrase as words, whether its last word is only the beginning of one, and what it means."""


class _Index:
    """The phrases by their first word, or by the first letters of it."""

    def __init__(self) -> None:
        spaced: dict[tuple[tuple[str, ...], bool], set[Meaning]] = {}
        inside: dict[str, set[Meaning]] = {}
        begins: dict[str, set[Meaning]] = {}
        for table, languages in tomllib.loads(FILE.read_text(encoding="utf-8")).items():
            meaning = Meaning(table)
            for language, listed in languages.items():
                for phrase in filter(None, (text.strip() for text in listed.split(","))):
                    stem = phrase.endswith("*")
                    text = phrase.removesuffix("*")
                    if language not in _UNSPACED or text.isascii():
                        found = words(text)
                        if found:
                            spaced.setdefault((found, stem), set()).add(meaning)
                    if language in _GLUED:
                        where = begins if meaning in _WHOLE_ONLY else inside
                        if language in _UNSPACED or where is inside:
                            where.setdefault(packed(text), set()).add(meaning)
        self.exact: dict[str, list[_Entry]] = {}
        self.stems: dict[str, list[_Entry]] = {}
        for (phrase_words, stem), meanings in spaced.items():
            entry = (phrase_words, stem, frozenset(meanings))
            if stem and len(phrase_words) == 1:
                self.stems.setdefault(phrase_words[0][:2], []).append(entry)
            else:
                self.exact.setdefault(phrase_words[0], []).append(entry)
        for entries in (*self.exact.values(), *self.stems.values()):
            entries.sort(key=lambda e: (len(e[0]), len(e[0][0])), reverse=True)
        self.inside = {text: frozenset(meanings) for text, meanings in inside.items()}
        self.begins = {text: frozenset(meanings) for text, meanings in begins.items()}

    # Compiled with the first text that is not ASCII alone: most screens have none.
    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return _alternatives(self.inside)

    @cached_property
    def beginning(self) -> re.Pattern[str]:
        return _alternatives(self.begins)


def _alternatives(texts: dict[str, frozenset[Meaning]]) -> re.Pattern[str]:
    longest = sorted(texts, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest)))


@lru_cache(maxsize=1)
def _index() -> _Index:
    return _Index()


def packed(text: str) -> str:
    """Fold a text and leave out what stands between its letters."""
    return _BETWEEN.sub("", skeleton(text))


@lru_cache(maxsize=8192)
def read(text: str) -> Reading:
    text = text[:_MAX_CHARS]
    spaced = _spaced(words(text)) if text else NOTHING
    if text.isascii():
        return spaced
    glued = _read_unspaced(packed(text))
    if glued is NOTHING:
        return spaced
    return Reading(spaced.found | glued.found, spaced.head | glued.head, spaced.whole | glued.whole)


def _spaced(found: tuple[str, ...]) -> Reading:
    index = _index()
    meanings: set[Meaning] = set()
    head = whole = frozenset[Meaning]()
    at = 0
    while at < len(found):
        span, meant = _longest(index, found, at)
        if span:
            meanings |= meant
            if at == 0:
                head = meant
                whole = meant if span == len(found) else whole
        at += span or 1
    return Reading(frozenset(meanings), head, whole) if meanings else NOTHING


def _longest(index: _Index, found: tuple[str, ...], at: int) -> tuple[int, frozenset[Meaning]]:
    word = found[at]
    stems = frozenset(
        meaning
        for (beginning,), _, meant in index.stems.get(word[:2], ())
        if word.startswith(beginning)
        for meaning in meant
    )
    for phrase, stem, meant in index.exact.get(word, ()):
        span = len(phrase)
        if found[at : at + span] == phrase:
            return span, meant | stems if span == 1 else meant
        there = found[at : at + span]
        if stem and there[:-1] == phrase[:-1] and there[-1].startswith(phrase[-1]):
            return span, meant
    return (1, stems) if stems else (0, frozenset())


def _read_unspaced(text: str) -> Reading:
    index = _index()
    meanings: set[Meaning] = set()
    head = whole = frozenset[Meaning]()
    for match in index.pattern.finditer(text):
        meant = index.inside[match.group()]
        meanings |= meant
        if match.start() == 0:
            head |= meant
            if match.end() >= len(text) - _SUFFIX:
                whole |= meant
    begins = index.beginning.match(text)
    if begins is not None and len(text) <= begins.end() + _SUFFIX:
        meant = index.begins[begins.group()]
        # A longer phrase of something else that stands there is what is meant: 取消订单.
        longer = index.pattern.match(text)
        if longer is None or longer.end() <= begins.end():
            meanings |= meant
            head |= meant
            whole |= meant
    return Reading(frozenset(meanings), head, whole) if meanings else NOTHING
