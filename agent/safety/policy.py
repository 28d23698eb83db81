"""Say what an action is about, and whether it may be done, needs the operator, or must not be done.

Judged on the real element of the observation and the real text, by words, never on what the model
says about it. Not an asker: the task puts the question. Invariant: an action that spends, deletes,
installs or sends is never allowed without a person, whatever a screen says.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import cached_property

import msgspec
from msgspec.structs import replace

from agent.records import Element, Point
from agent.safety.beneath import touched
from agent.safety.capabilities import Capability, Decision
from agent.safety.phrasebook import Act, glued, phrases
from agent.safety.redaction import PASSWORD, SSN_WRITTEN_OUT, find_card
from agent.safety.secrets import is_secret_field
from agent.safety.words import has_phrase, id_words, is_disguised, is_price, squeezed, words

MAX_TEXT_CHARS = 2000
"""CONTRACTS 5.4: a longer text is blocked."""


class Risk(StrEnum):
    """What makes an action one that cannot be undone."""

    NONE = ""
    FINANCIAL = "financial"
    DESTRUCTIVE = "destructive"
    OUTGOING = "outgoing"
    INSTALL = "install"
    PERMISSION = "permission"
    SECRET = "secret"
    LENGTH = "length"
    DISGUISED = "disguised"
    """A label that mixes alphabets to look like another word."""
    UNSEEN = "unseen"
    """The screen cannot be read, so nobody knows what it would do."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One judgement; the reason is a clause for people."""

    decision: Decision
    risk: Risk = Risk.NONE
    reason: str = ""
    capability: Capability = Capability.PERFORM


ALLOWED = Verdict(decision=Decision.ALLOW)


class _Phrases(tuple[tuple[str, ...], ...]):
    """Phrases as words, of which a label that has no first word of theirs has none."""

    @cached_property
    def firsts(self) -> frozenset[str]:
        return frozenset(phrase[0] for phrase in self)

    def __add__(self, others: tuple[tuple[str, ...], ...]) -> _Phrases:  # type: ignore[override]
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
    *("send", "post", "publish", "tweet", "share", "call", "dial", "forward", "submit"),
) + phrases(Act.SEND)
_SEND_WORDS = _phrases("send") + tuple(p for p in phrases(Act.SEND) if len(p) == 1)
_CALL_BUTTONS = _phrases("call", "dial") + phrases(Act.CALL)
_SHARE_BUTTONS = _phrases("share")
_INSTALL_BUTTONS = _phrases(
    *("install", "reinstall", "install anyway", "update all", "get app", "download app"),
    "sideload",
) + phrases(Act.INSTALL)
_STORE_BUTTONS = _phrases("get", "update", "install")
_STORES = ("com.android.vending", "org.fdroid", "com.aurora", "packageinstaller", "amazon.venezia")
_PERMISSION_APPS = ("permissioncontroller",)
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


def judge_touch(element: Element, point: Point | None, screen: Sequence[Element]) -> Verdict:
    """Judge a touch by the element that was named and by all that it may press there.

    Args:
        point: where it is touched; None where it is not by a finger.
        screen: the elements that were numbered with it.
    """
    verdicts = [judge_click(element)]
    if point is not None:
        verdicts += map(judge_click, touched(element, point, screen))
    asked = [verdict for verdict in verdicts if verdict.decision is not Decision.ALLOW]
    costly = (verdict for verdict in asked if verdict.risk is Risk.FINANCIAL)
    return next(costly, asked[0] if asked else ALLOWED)


def judge_click(element: Element) -> Verdict:
    """Judge a click or a long press by all that an element says, and by its resource id."""
    verdict = _judge_label(element)
    if verdict is ALLOWED and element.more:
        verdict = _judge_label(replace(element, label=element.more, more=""))
    return verdict


def _judge_label(element: Element) -> Verdict:
    label = words(element.label)
    ids = id_words(element.resource_id)
    title = words(element.label.split(" | ", 1)[0])
    name = element.label[:60]
    if _spends(element, label, title) or _any(ids, _FINANCIAL):
        return _ask(Risk.FINANCIAL, f'"{name}" may spend money', Capability.PAY)
    # Ids speak English where labels may not.
    destructive = _says(element, title, Act.DELETE, _DESTRUCTIVE_BUTTONS) or _button(
        ids, _DESTRUCTIVE_BUTTONS
    )
    if _any(label, _DESTRUCTIVE) or destructive or squeezed(label) in _DESTRUCTIVE_WORDS:
        return _ask(Risk.DESTRUCTIVE, f'"{name}" may destroy something', Capability.DELETE)
    if element.editable:
        return ALLOWED
    if _installs(element, title, ids):
        return _ask(Risk.INSTALL, f'"{name}" may install something', Capability.INSTALL)
    if any(app in element.package for app in _PERMISSION_APPS) and title not in _REFUSALS:
        return _ask(Risk.PERMISSION, f'"{name}" may let an app have a permission', Capability.GRANT)
    # A label of several parts is mostly a list's row: what somebody wrote, unless it begins with
    # the bare word of a button, as "Send | 1 recipient" does.
    is_row = " | " in element.label
    if is_row:
        outgoing = title in _OUTGOING_BUTTONS
    else:
        outgoing = _says(element, title, Act.SEND, _OUTGOING_BUTTONS)
        outgoing = outgoing or _says(element, title, Act.CALL, _CALL_BUTTONS)
    if is_send(element) or outgoing:
        capability = Capability.SEND
        if _says(element, title, Act.CALL, _CALL_BUTTONS):
            capability = Capability.CALL
        elif _any(title, _SHARE_BUTTONS):
            capability = Capability.SHARE
        return _ask(Risk.OUTGOING, f'"{name}" may send something to other people', capability)
    if element.clickable and is_disguised(element.label):
        return _ask(Risk.DISGUISED, f'"{name}" is written to look like another word')
    return ALLOWED


def _installs(element: Element, title: tuple[str, ...], ids: tuple[str, ...]) -> bool:
    named = _says(element, title, Act.INSTALL, _INSTALL_BUTTONS)
    if named or _button(ids, _INSTALL_BUTTONS):
        return element.clickable
    return any(store in element.package for store in _STORES) and title in _STORE_BUTTONS


def judge_typing(text: str, field: Element | None, screen: Sequence[Element]) -> Verdict:
    """Judge a text on its way into a field; None when nobody can see which."""
    verdict = judge_text(text)
    if verdict.decision is not Decision.ALLOW:
        return verdict
    if field is not None and is_secret_field(field):
        return _ask(
            Risk.SECRET, f'"{field.label[:60]}" is a field for a secret', Capability.ACCOUNT
        )
    if not screen:
        return _ask(Risk.UNSEEN, "the screen cannot be read, so nobody knows where it goes")
    if "\n" in text:
        return judge_enter(screen)
    return ALLOWED


def judge_text(text: str) -> Verdict:
    """Judge a text that is to be typed (the order is that of CONTRACTS 5.7)."""
    if SSN_WRITTEN_OUT.search(text):
        return _block(Risk.SECRET, "the text holds what looks like a social security number")
    if find_card(text):
        return _block(Risk.SECRET, "the text holds a payment card number")
    if PASSWORD.search(text):
        return _ask(Risk.SECRET, "the text holds what looks like a password", Capability.ACCOUNT)
    if len(text) > MAX_TEXT_CHARS:
        return _block(
            Risk.LENGTH, f"the text has {len(text)} characters, more than {MAX_TEXT_CHARS}"
        )
    return ALLOWED


def judge_enter(screen: Sequence[Element]) -> Verdict:
    """Judge the enter key: beside a send button it may send what was typed."""
    if not screen:
        return _ask(Risk.UNSEEN, "the screen cannot be read, and the enter key may do anything")
    pays = next((e for e in screen if e.clickable and judge_click(e).risk is Risk.FINANCIAL), None)
    if pays is not None and any(e.focused and e.editable for e in screen):
        return _ask(Risk.FINANCIAL, f'the enter key may press "{pays.label[:60]}"', Capability.PAY)
    if any(is_send(element) for element in screen):
        return _ask(
            Risk.OUTGOING, "the enter key may send the message on this screen", Capability.SEND
        )
    return ALLOWED


def is_send(element: Element) -> bool:
    """Tell whether an element is the button that sends a message."""
    if not element.clickable or element.editable:
        return False
    if id_words(element.resource_id) in _SEND_IDS:
        return True
    label = words(element.label)
    if " | " in element.label:
        return words(element.label.split(" | ", 1)[0]) in _SEND_WORDS
    if glued(Act.SEND, element.label):
        return True
    return label[:1] in _SEND_WORDS and len(label) <= _BUTTON_WORDS


def _spends(element: Element, label: tuple[str, ...], title: tuple[str, ...]) -> bool:
    if _any(label, _FINANCIAL) or glued(Act.SPEND, element.label):
        return True
    if squeezed(label) in _FINANCIAL_WORDS or (element.clickable and is_price(element.label)):
        return True
    return element.clickable and not element.editable and _button(title, _ORDER_BUTTONS)


def _says(element: Element, title: tuple[str, ...], act: Act, phrases_of_act: _Phrases) -> bool:
    """Tell whether an element's title is a button's that does an act, in any language."""
    return _button(title, phrases_of_act) or glued(act, element.label.split(" | ", 1)[0])


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


def _ask(risk: Risk, reason: str, capability: Capability = Capability.PERFORM) -> Verdict:
    return Verdict(decision=Decision.ASK, risk=risk, reason=reason, capability=capability)


def _block(risk: Risk, reason: str) -> Verdict:
    return Verdict(decision=Decision.BLOCK, risk=risk, reason=reason)
