"""Judge what an act would carry out of the phone to a network address: bars, links and what is
opened.

Pure. Invariant: no act takes a phone to a host that neither the goal nor the operator's settings
name, by an address that this session wrote or was shown, without a person who reads that address
decoded.
"""

from collections.abc import Collection, Sequence

from agent.records import Effect, EffectVerb, Element, Observation, Source, Stated
from agent.safety.capabilities import Capability, Decision
from agent.safety.effects.acts import Act, ActKind
from agent.safety.effects.statement import replace_digest
from agent.safety.effects.verdict import Risk, Verdict
from agent.safety.egress.destinations import Destination, is_allowed, read_destination
from agent.safety.words import id_words, words
from agent.text import one_line

_BAR_IDS = frozenset({"url", "omnibox", "urlbar", "addressbar", "location", "address"})
_BAR_WORDS = frozenset({"url", "website", "http", "https"})
_BROWSERS = (
    *("browser", "chrome", "chromium", "firefox", "fenix", "mozilla", "opera", "brave", "emmx"),
    *("duckduckgo", "vivaldi", "webview", "kiwi", "focus"),
)
_DOING = frozenset(
    {
        *(
            "delete",
            "remove",
            "unsubscribe",
            "deactivate",
            "confirm",
            "cancel",
            "logout",
            "signout",
        ),
        *("pay", "buy", "purchase", "subscribe", "transfer", "authorize", "approve", "accept"),
        *("erase", "reset", "revoke", "disconnect", "unlink", "invite", "verify", "activate"),
    }
)
"""Words of a path that name an act; addresses are in English in every language."""
_CONFIRMING = frozenset({"confirm", "confirmed", "accept", "agree", "approve", "delete", "force"})
_AGREEING = frozenset({"1", "y", "yes", "true", "ok", "on"})
_GO = frozenset({"go", "open", "enter", "visit", "load", "search", "navigate", "ok"})

_TO_SOMEBODY = frozenset({"mailto", "sms", "smsto", "mms", "mmsto", "tel"})
"""Schemes whose path is a number or a mailbox (RFC 6068, 5724, 3966)."""
_SOURCES = {ActKind.OPEN_LINK: Source.MODEL, ActKind.TYPE: Source.TYPED}
"""Where an address was read; else it stands in a field or on a control of the screen."""


def judge_egress(
    act: Act, screen: Observation, *, goal: str, listed: Collection[str]
) -> Verdict | None:
    """Judge an act by where it would carry data; None: nowhere, or where it may.

    Args:
        goal: the operator's own words.
        listed: the hosts that the operator's settings allow.
    """
    to = _destination(act, screen.elements)
    if to is None:
        return None
    named = is_allowed(to, goal=goal, listed=listed)
    if named and not (act.kind is ActKind.OPEN_LINK and does_something(to)):
        return None
    why = "the goal does not name" if not named else "does more than show a page"
    return Verdict(
        decision=Decision.ASK,
        rule="address",
        risk=Risk.OUTGOING,
        reason=f"it opens an address that {why}: {to.shown}",
        capability=Capability.SHARE,
        effect=replace_digest(
            Effect(
                verb=EffectVerb.CARRY_OUT,
                control="" if act.element is None else act.element.label[:80],
                recipient=_reached(to, _SOURCES.get(act.kind, Source.SCREEN)),
                content=Stated(text=to.shown, source=_SOURCES.get(act.kind, Source.SCREEN)),
                app=screen.foreground.package,
                undo="Nothing takes back what was sent with the address.",
            )
        ),
    )


def _reached(to: Destination, source: Source) -> Stated:
    """Return whom an address reaches: its host, or the number or mailbox of one without a host."""
    whom = to.shown_host
    if to.scheme in _TO_SOMEBODY:
        whom = whom or to.carried.partition("?")[0].strip("/")
    return Stated(text=one_line(whom or to.scheme, 200), source=source)


def does_something(to: Destination) -> bool:
    """Return whether an address names an act: a verb in its path, or a query that confirms one."""
    path, _, query = to.carried.partition("?")
    said = {word for part in path.split("/") for word in id_words(part)}
    confirmed = any(
        set(id_words(name)) & _CONFIRMING and value.casefold() in _AGREEING
        for name, _, value in (pair.partition("=") for pair in query.split("&"))
    )
    return bool(said & _DOING) or confirmed


def _destination(act: Act, screen: Sequence[Element]) -> Destination | None:
    match act.kind:
        case ActKind.OPEN_LINK:
            return read_destination(act.link) or Destination(scheme="unknown", carried=act.link)
        case ActKind.TYPE if "\n" in act.text and act.element is not None:
            held = "" if act.clear else act.element.value
            return _submitted(act.element, held + act.text.partition("\n")[0])
        case ActKind.KEY if act.key == "ENTER":
            field = next((e for e in screen if e.focused and e.editable), None)
            return None if field is None else _submitted(field, field.value)
        case ActKind.PRESS | ActKind.LONG_PRESS if act.element is not None:
            return _pressed(act.element, screen)
        case _:
            return None


def _submitted(field: Element, text: str) -> Destination | None:
    """Return where a field's text leads once it is submitted."""
    to = read_destination(text)
    if to is None or field.password:
        return None
    has_scheme = "://" in text
    return to if has_scheme or is_address_bar(field) else None


def _pressed(element: Element, screen: Sequence[Element]) -> Destination | None:
    if element.editable:
        return None
    bar = next((e for e in screen if e.editable and e.focused and is_address_bar(e)), None)
    if bar is not None:
        to = read_destination(bar.value)
        said = words(element.label)
        names_it = to is not None and to.host and to.host in element.label.lower()
        if to is not None and (names_it or (len(said) <= 2 and _GO & set(said))):
            return to
    for part in element.label.split(" | "):
        to = read_destination(part) if "://" in part or "?" in part else None
        # A link to a page is for reading; one that carries something is not.
        if to is not None and ("?" in to.carried or "#" in to.carried or to.notes):
            return to
    return None


def is_address_bar(field: Element) -> bool:
    """Return whether a field takes the address of a page."""
    ids = set(id_words(field.resource_id))
    said = words(field.label)
    if ids & {"omnibox", "urlbar", "addressbar"} or {"url", "bar"} <= ids:
        return True
    if _BAR_WORDS & set(said) or {"web", "address"} <= set(said):
        return True
    in_browser = any(name in field.package.lower() for name in _BROWSERS)
    return in_browser and bool(ids & _BAR_IDS or "address" in said)
