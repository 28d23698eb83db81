"""Find what the label of one element says that it does, in any of the languages.

By its words and its resource id alone; where it stands is `press`'s. Invariant: what spends,
deletes, installs or sends says so however it is written: in look-alikes, in pieces, in capitals.
"""

from functools import cached_property

from msgspec.structs import replace

from agent.language.look_alikes import is_disguised
from agent.language.tokens import has_phrase
from agent.records import EffectVerb, Element
from agent.safety.effects.finding import Finding
from agent.safety.effects.lexicon import Meaning, read
from agent.safety.effects.page import HARMFUL
from agent.safety.effects.verdict import Risk
from agent.safety.phrasebook import Act, phrases, says_unspaced
from agent.safety.words import id_words, is_price, joined_words, words

V = EffectVerb


class _Phrases(tuple[tuple[str, ...], ...]):
    """Phrases as words, of which a label that has no first word of theirs has none."""

    @cached_property
    def firsts(self) -> frozenset[str]:
        return frozenset(phrase[0] for phrase in self)

    def __add__(self, others: tuple[tuple[str, ...], ...]) -> "_Phrases":  # type: ignore[override]
        return _Phrases((*self, *others))


def _phrases(*texts: str) -> _Phrases:
    return _Phrases(tuple(text.split()) for text in texts)


# Spending is asked about wherever its words stand in a label.
_FINANCIAL = _phrases(
    *("pay", "purchase", "subscribe", "buy", "checkout", "check out", "place order"),
    *("confirm order", "confirm payment", "add to cart", "complete purchase", "authorize"),
    *("authorise", "donate", "send money", "transfer money", "place bid", "upgrade plan"),
    *("pay now", "pay here", "buy now", "buy it now", "order now", "subscribe now"),
    *("make payment", "make a payment", "submit payment", "complete payment", "send payment"),
) + phrases(Act.SPEND)
_ORDER_BUTTONS = _Phrases(phrases(Act.ORDER))
_DESTRUCTIVE = _phrases(
    *("delete account", "close account", "cancel subscription", "terminate", "deactivate"),
    *("factory reset", "erase all data", "erase all", "delete all", "reset phone", "wipe"),
)
# Words that are also ordinary speech count only where a label is a button's: short, or led by them.
_DESTRUCTIVE_BUTTONS = _phrases(
    *("delete", "erase", "uninstall", "remove account", "empty trash", "empty bin", "discard"),
    "move to trash",
) + phrases(Act.DELETE)
_OUTGOING_BUTTONS = _phrases(
    *("send", "post", "publish", "tweet", "share", "call", "dial", "forward", "submit")
) + phrases(Act.SEND)
_SEND_WORDS = _phrases("send") + tuple(p for p in phrases(Act.SEND) if len(p) == 1)
_CALL_BUTTONS = _phrases("call", "dial") + phrases(Act.CALL)
_SHARE_BUTTONS = _phrases("share")
_INSTALL_BUTTONS = _phrases(
    *("install", "reinstall", "install anyway", "update all", "get app", "download app"), "sideload"
) + phrases(Act.INSTALL)
_STORE_BUTTONS = _phrases("get", "update", "install")
_STORES = ("com.android.vending", "org.fdroid", "com.aurora", "packageinstaller", "amazon.venezia")
PERMISSION_APPS = ("permissioncontroller",)
_REFUSALS = _phrases(
    *("don t allow", "dont allow", "deny", "deny anyway", "cancel", "not now", "close", "back"),
    *("no thanks", "no", "dismiss", "keep", "don t allow anyway", "see all"),
)
_SEND_IDS = _phrases(
    *("send", "submit", "btn send", "send btn", "send button", "fab send", "send icon"),
    *("button send", "send message", "send message button", "send message button icon"),
)
_BUTTON_WORDS = 4
# As one word: labels that are written in pieces say the same to who reads them.
_FINANCIAL_WORDS = frozenset(map("".join, _FINANCIAL))
_DESTRUCTIVE_WORDS = frozenset(map("".join, _DESTRUCTIVE + _DESTRUCTIVE_BUTTONS))


def find_named(element: Element) -> Finding | None:
    """Find what a press does by all that an element says, and by its resource id."""
    found = _by_label(element)
    if found is None and element.more:
        found = _by_label(replace(element, label=element.more, more=""))
    return found


def _by_label(element: Element) -> Finding | None:
    label = words(element.label)
    ids = id_words(element.resource_id)
    title = words(element.label.split(" | ", 1)[0])
    name = element.label[:60]
    if _spends(element, label, title) or _any(ids, _FINANCIAL):
        return Finding(V.SPEND, f'"{name}" may spend money', element)
    # Ids speak English where labels may not.
    destructive = _is_titled(element, title, Act.DELETE, _DESTRUCTIVE_BUTTONS) or _button(
        ids, _DESTRUCTIVE_BUTTONS
    )
    if _any(label, _DESTRUCTIVE) or destructive or joined_words(label) in _DESTRUCTIVE_WORDS:
        return Finding(V.DELETE, f'"{name}" may destroy something', element)
    if element.editable:
        return None
    if _installs(element, title, ids):
        return Finding(V.INSTALL, f'"{name}" may install something', element)
    if any(app in element.package for app in PERMISSION_APPS) and title not in _REFUSALS:
        return Finding(V.GRANT, f'"{name}" may let an app have a permission', element)
    # A label of several parts is mostly a list's row: what somebody wrote, unless it begins with
    # the bare word of a button, as "Send | 1 recipient" does.
    is_row = " | " in element.label
    if is_row:
        outgoing = title in _OUTGOING_BUTTONS
    else:
        outgoing = _is_titled(element, title, Act.SEND, _OUTGOING_BUTTONS)
        outgoing = outgoing or _is_titled(element, title, Act.CALL, _CALL_BUTTONS)
    if is_send(element) or outgoing:
        verb = V.SEND
        if _is_titled(element, title, Act.CALL, _CALL_BUTTONS):
            verb = V.CALL
        elif _any(title, _SHARE_BUTTONS):
            verb = V.CARRY_OUT
        return Finding(verb, f'"{name}" may send something to other people', element)
    if element.clickable and is_disguised(element.label):
        said = f'"{name}" is written to look like another word'
        return Finding(V.UNKNOWN, said, element, risk=Risk.DISGUISED)
    return None


def _installs(element: Element, title: tuple[str, ...], ids: tuple[str, ...]) -> bool:
    named = _is_titled(element, title, Act.INSTALL, _INSTALL_BUTTONS)
    if named or _button(ids, _INSTALL_BUTTONS):
        return element.clickable
    return any(store in element.package for store in _STORES) and title in _STORE_BUTTONS


def is_only_written(element: Element) -> bool:
    """Return whether an act is in the words of an entry alone, as in a note "Pay rent".

    A button that acts is called so, in whole: "Pay now", "Delete account", "Abmelden"; or by its
    resource id.
    """
    label, ids = words(element.label), id_words(element.resource_id)
    if " | " not in element.label and read(element.label).whole & HARMFUL - {Meaning.MONEY}:
        return False
    if is_price(element.label) or joined_words(label) in _FINANCIAL_WORDS | _DESTRUCTIVE_WORDS:
        return False
    if is_disguised(element.label) or label in _OUTGOING_BUTTONS + _INSTALL_BUTTONS:
        return False
    return not any(_any(ids, known) for known in (_FINANCIAL, _DESTRUCTIVE_BUTTONS, _SEND_IDS))


def is_send(element: Element) -> bool:
    """Return whether an element is the button that sends a message."""
    if not element.clickable or element.editable:
        return False
    if id_words(element.resource_id) in _SEND_IDS:
        return True
    label = words(element.label)
    if " | " in element.label:
        return words(element.label.split(" | ", 1)[0]) in _SEND_WORDS
    if says_unspaced(Act.SEND, element.label):
        return True
    return label[:1] in _SEND_WORDS and len(label) <= _BUTTON_WORDS


def _spends(element: Element, label: tuple[str, ...], title: tuple[str, ...]) -> bool:
    if _any(label, _FINANCIAL) or says_unspaced(Act.SPEND, element.label):
        return True
    if joined_words(label) in _FINANCIAL_WORDS or (element.clickable and is_price(element.label)):
        return True
    return element.clickable and not element.editable and _button(title, _ORDER_BUTTONS)


def _is_titled(
    element: Element, title: tuple[str, ...], act: Act, phrases_of_act: _Phrases
) -> bool:
    """Return whether an element's title is a button's that does an act, in any language."""
    return _button(title, phrases_of_act) or says_unspaced(act, element.label.split(" | ", 1)[0])


def _any(haystack: tuple[str, ...], phrases: _Phrases) -> bool:
    if phrases.firsts.isdisjoint(haystack):
        return False
    return any(has_phrase(haystack, phrase) for phrase in phrases)


def _button(title: tuple[str, ...], phrases: _Phrases) -> bool:
    if len(title) <= _BUTTON_WORDS:
        return _any(title, phrases)
    if title[0] not in phrases.firsts:
        return False
    return any(title[: len(phrase)] == phrase for phrase in phrases)
