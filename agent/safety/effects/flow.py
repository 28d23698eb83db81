"""Follow what a session is about, from the opening of a form to the press that commits it.

A small state machine for each session, fed by the screens that were seen and the acts that were
done; it is folded from the stored events, so a resumed session has the same. It remembers who is
paid or written to, how much, what this session typed and where, and what the operator approved.
Invariants: an approval covers the rest of its own flow only, for the same recipient, amount and
content; a control that was pressed under it is not covered a second time, but for keys of a keypad.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from agent import protocol
from agent.records import ActionOutcome, Effect, EffectVerb, Element, Observation, Source, Stated
from agent.safety.approval import is_yes
from agent.safety.effects.acts import Act, ActKind, ReadActs
from agent.safety.effects.amounts import amounts, currency, is_whole, values
from agent.safety.effects.lexicon import Meaning, read
from agent.safety.effects.page import Page, is_digit, page_of
from agent.safety.effects.structure.fields import is_recipient
from agent.safety.redacting.redaction import TAKEN_OUT
from agent.safety.scope import is_neutral
from agent.safety.words import id_words, words

V = EffectVerb
_CHAINED = frozenset({V.SPEND, V.TYPE_SECRET})
"""Verbs whose approval covers more than the confirmation that follows at once."""
_MOST_ACTS = 14
_TELEPHONE = re.compile(r"\+?[0-9][0-9 ()./-]{4,22}")
_FEW = 4
_HISTORY = 400


@dataclass(slots=True)
class Approval:
    """What the operator let pass, and how far that reaches."""

    effect: Effect
    there: frozenset[str]
    """Keys of what was on the screen then."""
    used: set[tuple[str, str]] = field(default_factory=set)
    """Controls that were pressed under it, by their page."""
    acts: int = 0
    """How many were done since, with the one that was approved."""
    scope: frozenset[Meaning] = frozenset()
    page: str = ""
    """The page on which it was asked."""
    number: str = ""
    """The digits of the only telephone number on that page; empty: none, or several."""


class Flow:
    """What a session is in the middle of."""

    def __init__(self) -> None:
        self.verb: EffectVerb | None = None
        self.package = ""
        self.amount: Stated | None = None
        self.recipient: Stated | None = None
        self.chosen = ""
        """The row that was pressed last."""
        self.typed: dict[tuple[str, str], str] = {}
        """What this session typed, by app and field."""
        self.selected_all = False
        self.paid: set[str] = set()
        """The apps in which the operator approved a payment of this session."""
        self._currencies: dict[str, set[str]] = {}
        """The currencies of all amounts that were seen, by app."""
        self.approval: Approval | None = None
        self._seen: Observation | None = None

    @classmethod
    def of(cls, history: Iterable[protocol.Event], read: ReadActs) -> "Flow":
        """Fold the flow of a session from its stored events."""
        flow = cls()
        fold = Folding(flow, read)
        for event in list(history)[-_HISTORY:]:
            fold.take(event.msg)
        return flow

    # --- what is seen ----------

    def saw(self, screen: Observation) -> None:
        """Take in a screen; the same one twice changes nothing."""
        if screen is self._seen:
            return
        self._seen = screen
        page = page_of(screen)
        for element in screen.elements:
            if found := [one for one in amounts(element.label) if is_whole(one)]:
                units = self._currencies.setdefault(element.package, set())
                units.update(map(currency, found))
        if page.package != self.package and not is_neutral(
            page.package, screen.foreground.activity
        ):
            if self.verb is not V.SEND:
                self.close()
            self.package = page.package
        if page.says_done:
            self.close()
            return
        if self.verb is V.SPEND and not _continues(page):
            self.close()
        if page.speaks_of_money and (page.stake or page.amount_field or page.recipient):
            self.verb = V.SPEND
            if page.stake:
                self.amount = self._stated(page.stake)
            if page.recipient:
                self.recipient = self._stated(page.recipient)

    def close(self) -> None:
        """End the flow: what was known and approved of it counts no longer."""
        self.verb, self.amount, self.recipient, self.chosen = None, None, None, ""
        self.selected_all = False
        if self.approval is not None and self.approval.effect.verb in _CHAINED:
            self.approval = None

    def currency_of(self, package: str) -> str:
        """Return the one currency that an app has shown; empty: none, or several."""
        seen = self._currencies.get(package, set())
        return next(iter(seen)) if len(seen) == 1 else ""

    def _stated(self, text: str) -> Stated:
        return Stated(text=text, source=self.source_of(text))

    def source_of(self, text: str) -> Source:
        """Return whether this session itself wrote a text that a screen shows, or chose it."""
        wanted = text.strip().casefold()
        if wanted == self.chosen.casefold() and wanted:
            return Source.TYPED
        typed = (said.strip().casefold() for said in self.typed.values())
        return Source.TYPED if any(said and said in wanted for said in typed) else Source.SCREEN

    def unredacted(self, shown: str, page: Page) -> str:
        """Return what this session typed where the screen's text has lost it to redaction."""
        if not TAKEN_OUT.search(shown):
            return shown
        for one in page.fields:
            typed = self.typed.get((one.package, field_name(one)), "")
            if typed and is_recipient(one) and TAKEN_OUT.search(one.value):
                shown = shown.replace(one.value, typed)
        return shown

    # --- what is done ----------

    def did(self, act: Act, screen: Observation) -> None:
        """Take in an act that was carried out on a screen."""
        page = page_of(screen)
        element = act.element
        if self.approval is not None and element is not None:
            self.approval.acts += 1
            self.approval.used.add((_signature(page), element.key))
        if act.kind is ActKind.TYPE:
            self.selected_all = False
            if element is not None and not act.is_secret:
                key = (element.package, field_name(element))
                before = "" if act.clear else self.typed.get(key, "")
                self.typed[key] = before + act.text.strip("\n")
            return
        if act.kind not in {ActKind.PRESS, ActKind.LONG_PRESS} or element is None:
            return
        said = words(element.label)
        if said[:2] == ("select", "all") or "selectall" in element.resource_id.lower().replace(
            "_", ""
        ):
            self.selected_all = True
        found = read(element.label.split(" | ", 1)[0])
        if page.is_row(element) and any(map(str.isalpha, element.label)):
            self.chosen = element.label.split(" | ", 1)[0]
            names = page.asks_recipient and "••" not in element.label
            if self.verb is V.SPEND and names and not page.recipient:
                self.recipient = Stated(text=self.chosen, source=Source.TYPED)
        if _shares(element) and not found.found & {Meaning.DRAFT}:
            self.verb = V.SEND

    # --- what is approved ----------

    def approve(self, effect: Effect, screen: Observation, element: Element | None) -> None:
        """Take in that the operator let an effect pass."""
        if effect.verb is V.SPEND:
            self.paid.add(effect.app)
        page = page_of(screen)
        said = read(f"{effect.control} {page.title} {page.message}")
        self.approval = Approval(
            effect=effect,
            there=frozenset(e.key for e in screen.elements),
            scope=said.found & {Meaning.SCOPE},
            page=_signature(page),
            number=_only_number(screen.elements),
        )
        if element is not None and not is_digit(element):
            self.approval.used.add((_signature(page), element.key))

    def undone(self) -> None:
        """Take in that what was just approved was not carried out, so nothing follows from it."""
        if self.approval is not None and self.approval.acts == 0:
            self.approval = None

    def covers(self, effect: Effect, element: Element | None, page: Page) -> bool:
        """Return whether an effect is what the operator has approved already."""
        approval = self.approval
        if approval is None or approval.acts > _MOST_ACTS:
            return False
        asked, key = approval.effect, "" if element is None else element.key
        if (_signature(page), key) in approval.used and not (element and is_digit(element)):
            return False
        if approval.acts <= 1 and approval.page != _signature(page):
            # The app's own page for confirming: it says what was approved, and no less of it.
            if asked.verb is effect.verb is V.CALL and _same_callee(approval, effect):
                return True
            if asked.digest == effect.digest and _says_all(effect):
                return True
        if asked.app != effect.app and not is_neutral(effect.app):
            return False
        if asked.verb is V.SPEND:
            if effect.verb not in {V.SPEND, V.TYPE_SECRET}:
                return False
            return _same(asked.recipient, effect.recipient) and _same_amount(
                asked.amount, effect.amount
            )
        if asked.verb is not effect.verb:
            return False
        if asked.verb is V.TYPE_SECRET:
            return element is not None and is_digit(element)
        # The phone's own "are you sure?": a dialog that was not there, and says no more.
        return (
            approval.acts <= 1
            and page.is_dialog
            and key not in approval.there
            and not (page.question.found & {Meaning.SCOPE}) - approval.scope
            and _same(asked.recipient, effect.recipient)
        )


@dataclass(slots=True)
class Folding:
    """Feed a flow from stored events."""

    flow: Flow
    read: ReadActs
    _screen: Observation | None = None
    _open: dict[str, protocol.ToolCallRequested] = field(default_factory=dict)
    _asked: dict[str, protocol.RequestUserInput] = field(default_factory=dict)

    def take(self, msg: protocol.EventMsg) -> None:
        """Take in one event; most are of no concern."""
        match msg:
            case protocol.ObservationRecorded(observation=seen):
                self._screen = seen
                self.flow.saw(seen)
            case protocol.ToolCallRequested(kind="action"):
                self._open[msg.call_id] = msg
            case protocol.ToolCallFinished(call_id=call_id, outcome=outcome):
                call = self._open.pop(call_id, None)
                if call is not None and self._screen is not None and outcome is ActionOutcome.DONE:
                    for act in self.read(call, self._screen)[:1]:
                        self.flow.did(act, self._screen)
            case protocol.RequestUserInput(question=question) if question.subject is not None:
                self._asked[question.question_id] = msg
            case protocol.QuestionAnswered(question_id=question_id, answer=answer):
                asked = self._asked.pop(question_id, None)
                subject = asked.question.subject if asked is not None else None
                if (
                    subject is not None
                    and subject.effect is not None
                    and self._screen is not None
                    and is_yes(answer)
                ):
                    self.flow.approve(subject.effect, self._screen, subject.element)
            case protocol.AllowanceUsed(effect=effect, element=element) if self._screen is not None:
                self.flow.approve(effect, self._screen, element)
            case _:
                return


def field_name(element: Element) -> str:
    """Name a field so that it is known again with other content and elsewhere on the screen."""
    return element.resource_id or element.label


def _signature(page: Page) -> str:
    return f"{page.package}|{' '.join(page.activity)}|{page.title}|{page.is_dialog}"


def _continues(page: Page) -> bool:
    """Return whether a page may be the next one of a payment."""
    if page.is_pin_page or page.is_dialog or page.digits:
        return True
    if page.speaks_of_money and (page.stake or page.fields):
        return True
    return len(page.pressables) <= _FEW


def _shares(element: Element) -> bool:
    ids = set(id_words(element.resource_id))
    return bool(ids & {"share", "forward"}) or words(element.label)[:1] in {
        ("share",),
        ("forward",),
        ("teilen",),
        ("weiterleiten",),
        ("partager",),
        ("compartir",),
        ("condividi",),
        ("compartilhar",),
        ("поделиться",),
        ("分享",),
        ("共有",),
        ("공유",),
    }


def _only_number(elements: Iterable[Element]) -> str:
    shown = (text for e in elements for text in (*e.label.split(" | "), e.value, e.more))
    numbers = {re.sub(r"\D", "", text) for text in shown if _TELEPHONE.fullmatch(text.strip())}
    return numbers.pop() if len(numbers) == 1 else ""


def _same_callee(approval: Approval, effect: Effect) -> bool:
    """Return whether a dialler would call whom the operator approved, by number or full name."""
    asked, now = approval.effect.recipient, effect.recipient
    if now is None or not now.text.strip() or TAKEN_OUT.search(now.text):
        return False
    if _TELEPHONE.fullmatch(now.text.strip()):
        return re.sub(r"\D", "", now.text) == approval.number
    return asked is not None and bool(words(now.text)) and words(asked.text) == words(now.text)


def _says_all(effect: Effect) -> bool:
    """Return whether everything is readable that an approval of a message is bound to."""
    facts = (effect.recipient, effect.content)
    return effect.verb in {V.SEND, V.PUBLISH} and all(
        fact is not None
        and fact.text.strip()
        and fact.source is not Source.UNREADABLE
        and not TAKEN_OUT.search(fact.text)
        for fact in facts
    )


def _same(asked: Stated | None, now: Stated | None) -> bool:
    if now is None or not now.text:
        return True
    if asked is None or not asked.text:
        return False
    one, other = words(asked.text), words(now.text)
    return one == other or set(one) <= set(other) or set(other) <= set(one)


def _same_amount(asked: Stated | None, now: Stated | None) -> bool:
    if now is None or not now.text:
        return True
    if asked is None or not asked.text:
        return False
    found = values(now.text)
    return asked.text == now.text or (bool(found) and found <= values(asked.text))
