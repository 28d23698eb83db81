"""State an effect for the person who has to judge it: to whom, what, how much, and who says so."""

import hashlib
import re

from agent.records import Effect, EffectVerb, Element, Source, Stated
from agent.safety.effects.acts import Act, ActKind
from agent.safety.effects.amounts import amounts, currency, is_whole
from agent.safety.effects.context import Context
from agent.safety.effects.finding import Finding
from agent.safety.effects.goal_match import beside_goal
from agent.safety.effects.lexicon import Meaning, read
from agent.safety.effects.page import Page
from agent.safety.effects.structure.fields import is_recipient
from agent.safety.effects.structure.shown import shown_around
from agent.safety.effects.verbs import RULES
from agent.safety.redacting.redaction import redact_secrets
from agent.text import clean, one_line

V = EffectVerb
_MAX_CHARS = 4000
_TO_SOMEBODY = frozenset({V.SPEND, V.SEND, V.CALL})
_NEVER = frozenset({V.SPEND, V.SEND, V.CARRY_OUT})
"""What nothing takes back, whatever a screen says."""
_LASTS = frozenset({Meaning.FINAL, Meaning.LASTING})
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_IF_IT_PAYS = "Unknown: if it pays, that is not taken back."
UNREADABLE = Stated(source=Source.UNREADABLE)


def state(finding: Finding, act: Act, page: Page, context: Context) -> Effect:
    """State what an act would do, with the source of each fact."""
    verb = finding.verb
    element = finding.element or act.element
    recipient = _recipient(verb, page, context, act)
    amount = _amount(page, context, element.label if element else "") if verb is V.SPEND else None
    content, before = _content(finding, act, page, context)
    app = (element.package if element and element.package else "") or page.package
    effect = Effect(
        verb=verb,
        control=element.label[:200] if element else act.key,
        recipient=recipient,
        content=content,
        before=before,
        amount=amount,
        currency=currency(amount.text) if amount and is_whole(amount.text) else "",
        account=_account(page) if verb is V.SPEND else None,
        app=app,
        screen=page.title[:200] or context.screen.foreground.activity.rsplit(".", 1)[-1],
        phone=context.phone,
        undo=_undo(verb, element, page, before) if _is_known(verb, amount) else _IF_IT_PAYS,
        beside_goal=beside_goal(recipient, amount, context.goal),
        shown=shown_around(element, page, context.flow),
    )
    return replace_digest(effect)


def _is_known(verb: EffectVerb, amount: Stated | None) -> bool:
    """Return whether it is known that an act pays, by an amount that is read."""
    return verb is not V.SPEND or (amount is not None and bool(amount.text))


def replace_digest(effect: Effect) -> Effect:
    """Return an effect with the digest of what an approval of it is bound to."""
    bound = "\0".join(
        (
            effect.verb.value,
            effect.app,
            *(
                fact.text if fact is not None else ""
                for fact in (effect.recipient, effect.content, effect.amount, effect.before)
            ),
        )
    )
    digest = hashlib.sha256(bound.encode("utf-8", "replace")).hexdigest()
    return Effect(
        **{name: getattr(effect, name) for name in effect.__struct_fields__ if name != "digest"},
        digest=digest,
    )


def _recipient(verb: EffectVerb, page: Page, context: Context, act: Act) -> Stated | None:
    flow = context.flow
    if verb not in _TO_SOMEBODY:
        return None
    if page.recipient:
        name = flow.unredacted(page.recipient, page)
        return Stated(text=name, source=flow.source_of(name))
    if verb is V.SPEND and flow.recipient is not None:
        return flow.recipient
    if verb is V.CALL and act.element is not None:
        label = act.element.label
        said = label.split(" ", 1)[1] if " " in label and " | " not in label else ""
        # "Call Ana" names somebody, and "Anruf starten" nobody.
        said = "" if said[:1].islower() else said
        dialled = next((f.value for f in page.filled), "")
        name = said or dialled or page.title
        return Stated(text=name, source=flow.source_of(name)) if name else UNREADABLE
    if verb is V.SEND:
        # Above a field for a message stands who gets it; elsewhere a title is only a title.
        if page.composer is not None and page.title and page.title != page.composer.label:
            return Stated(text=page.title)
        if flow.chosen:
            return Stated(text=flow.chosen, source=Source.TYPED)
    return UNREADABLE


def _amount(page: Page, context: Context, control: str) -> Stated:
    own = amounts(control)
    if len(own) == 1:
        return Stated(text=own[0])
    if own:
        # "Pay $15 + $2": all that stands from the first to the last.
        return Stated(text=control[control.index(own[0]) : control.rindex(own[-1]) + len(own[-1])])
    if page.stake:
        return Stated(text=page.stake, source=context.flow.source_of(page.stake))
    if page.amount_field is not None:
        # What an earlier page or the field itself said before holds no longer.
        return UNREADABLE
    return context.flow.amount or UNREADABLE


def _account(page: Page) -> Stated | None:
    paying = next((e.label for e in page.elements if "••" in e.label or "**" in e.label), "")
    return Stated(text=paying[:120]) if paying else None


def _undo(verb: EffectVerb, element: Element | None, page: Page, before: Stated | None) -> str:
    """Return what can take an effect back: the screen's own words come before the verb's."""
    if verb in _NEVER or not RULES[verb].undo:
        return RULES[verb].undo
    shown = page.texts if page.is_dialog or not page.rows else ()
    # What stands in a row is anybody's.
    control = "" if element is None or page.is_row(element) else element.label
    for text in (control, page.title, *(e.label for e in shown)):
        if _LASTS & read(text).found:
            parts = _SENTENCE.split(text)
            said = next((part for part in parts if _LASTS & read(part).found), text)
            return f'The screen says: "{one_line(said, 160)}"'
    if verb is V.OVERWRITE and (before is None or before.source is Source.UNREADABLE):
        return "At most the app's own older version: what is replaced was not read."
    return RULES[verb].undo


def _content(
    finding: Finding, act: Act, page: Page, context: Context
) -> tuple[Stated | None, Stated | None]:
    flow = context.flow
    match finding.verb:
        case V.SEND | V.PUBLISH | V.CARRY_OUT:
            said = [f.value for f in page.filled if not is_recipient(f)]
            if act.kind is ActKind.TYPE and act.text.strip():
                said.append(act.text)
            text = _tidy("\n".join(dict.fromkeys(said)))
            if not text:
                return UNREADABLE, None
            return Stated(text=text, source=flow.source_of(text)), None
        case V.OVERWRITE:
            old = finding.element.value if finding.element else ""
            kept = "" if act.clear or flow.selected_all else old
            new = _tidy(kept + act.text)
            return (
                Stated(text=new, source=Source.TYPED),
                Stated(text=_tidy(old)) if old else UNREADABLE,
            )
        case V.DELETE | V.CANCEL | V.INSTALL | V.GRANT | V.SIGN_OUT | V.PROTECTION:
            held = [f.value for f in page.filled]
            about = [page.title, page.message] if page.is_dialog else [page.title, *held]
            if finding.element is not None and page.is_row(finding.element):
                about = [finding.element.label]
            elif finding.element is not None and (own := page.texts_of_one(finding.element)):
                about = own
            elif finding.verb is V.DELETE and not page.is_dialog and page.rows > 1:
                # The title is the list's; which of it goes, if any is ticked, stands beside it.
                about = []
            text = _tidy("\n".join(part for part in about if part))
            return (Stated(text=text) if text else UNREADABLE), None
        case _:
            return None, None


def _tidy(text: str) -> str:
    return redact_secrets(clean(text[:_MAX_CHARS]))
