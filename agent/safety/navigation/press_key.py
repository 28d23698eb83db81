"""What a press is known by from one session to the next: the app's version, the page, the control.

Pure. Invariants: whatever may tell a control from one that looks like it and does more is part of
the key; a press that may end something has no key, so that it is never known.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence

import msgspec

from agent.records import Element, Observation
from agent.safety.effects.acts import Act, ActKind
from agent.safety.effects.page import Page, is_slider, page_of
from agent.safety.effects.structure.ending import ends

_DIGITS = re.compile(r"\d+")
_FOREIGN = frozenset({"webview", "seen-text"})
"""Kinds of elements whose content is not the app's own, or is only seen in the picture."""
_SYSTEM_BARS = "com.android.systemui"


class PressKey(msgspec.Struct, frozen=True, kw_only=True):
    """One press. No word of a screen can be read from it."""

    package: str
    version: int
    """The app's version code."""
    digest: str
    """Of the page and the control, in hex."""


class Navigated(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one press: it only navigated, or it had an effect."""

    key: PressKey
    only: bool


def press_key(
    acts: Sequence[Act], screen: Observation, versions: Mapping[str, int]
) -> PressKey | None:
    """Return what a press is known by; None: it has to be judged anew each time.

    Args:
        versions: the version code of each app of the phone.
    """
    if len(acts) != 1 or acts[0].kind is not ActKind.PRESS or acts[0].element is None:
        return None
    element, package = acts[0].element, screen.foreground.package
    version = versions.get(package)
    if version is None or screen.is_silent or element.package not in {"", package}:
        return None
    page = page_of(screen)
    if not _is_plain(element) or _may_end(element, page):
        return None
    if any(e.kind in _FOREIGN for e in screen.elements):
        return None
    said = "\n".join((*_page_lines(page, element), _control_line(element, page)))
    return PressKey(package=package, version=version, digest=_sha256(said))


def content_of(screen: Observation) -> str:
    """Return the digest, in hex, of all that a screen says, holds and has chosen, but for numbers
    of the status bar.
    """
    lines = sorted(
        f"{e.class_name}|{e.resource_id}|{e.label}|{e.value}|{e.checked:d}{e.selected:d}"
        for e in screen.elements
        if e.package != _SYSTEM_BARS
    )
    front = screen.foreground
    return _sha256("\n".join((front.package, front.activity, *lines)))


def _is_plain(element: Element) -> bool:
    """Return whether a control has no state of its own that a press could change."""
    stateful = element.editable or element.checkable or element.checked or is_slider(element)
    return element.clickable and element.enabled and not stateful


def _may_end(element: Element, page: Page) -> bool:
    """Return whether a press may commit what a page asks, holds or charges, or ends it."""
    ticked = any(e.checked and e.kind != "switch" for e in page.elements)
    asks = page.is_dialog or page.is_pin_page or bool(page.digits)
    pays = page.is_basket or (page.speaks_of_money and bool(page.stake))
    return asks or ticked or pays or bool(page.filled) or ends(element, page)


def _page_lines(page: Page, pressed: Element) -> list[str]:
    """Write what a page is, without the rows that its lists happen to have."""
    amounts = sorted(amount for _, amount in page.amounts)
    front = page.screen.foreground
    lines = [front.package, front.activity, _plain(page.title), " ".join(amounts)]
    lines += sorted(f"{e.class_name}|{e.resource_id}|{_plain(e.label)}" for e in page.texts)
    lines += sorted(
        f"{e.class_name}|{e.resource_id}|{e.kind}|{_plain(e.label.split(' | ', 1)[0])}"
        for e in (*page.pressables, *page.fields)
        if e.number != pressed.number and not page.is_listed(e)
    )
    return lines


def _control_line(element: Element, page: Page) -> str:
    name, *rest = element.label.split(" | ")
    # What a row says beside its name is news; how many parts it has is its build.
    said = name if page.is_listed(element) else f"{element.label}|{element.more}"
    if not page.amounts:
        said = _plain(said)
    role = f"{page.is_listed(element):d}{page.is_tile(element):d}{page.is_toolbar(element):d}"
    role += f"{len(rest)}"
    state = f"{element.selected:d}{element.long_clickable:d}"
    return f"{element.class_name}|{element.resource_id}|{element.kind}|{role}{state}|{said}"


def _plain(text: str) -> str:
    """Return a text without its numbers, which counters and clocks change."""
    return _DIGITS.sub("0", text)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
