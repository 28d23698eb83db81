"""Find what a dialog's agreeing button may do when neither it nor the question names an effect.

An app asks a person where it does not want to decide itself. What it warns of in its text counts,
and so does a dialog in a language that the lexicon does not have.
"""

from agent.records import EffectVerb, Element
from agent.safety.effects.finding import Finding
from agent.safety.effects.lexicon import Meaning, read
from agent.safety.effects.page import Page
from agent.safety.effects.structure.ending import (
    ends,
    is_next_step,
    is_unread,
    is_unread_choice,
    is_way_out,
    leads_away,
    sign_of,
)

V = EffectVerb
M = Meaning


def find_agreeing(element: Element, page: Page) -> Finding | None:
    """Find what a button agrees to by what its dialog or page warns of; None: of nothing."""
    if page.is_toolbar(element) or leads_away(element, page):
        return None
    if not page.is_dialog:
        return _accepts_warning(element, page) or _lets_sign_in(element, page)
    if page.is_listed(element) or (sign_of(element) and not is_next_step(element)):
        return None
    if page.fields and not page.refusals:
        return None
    choices = [e for e in page.pressables if not page.is_toolbar(e)]
    said = f'"{element.label[:60]}" of "{page.title[:60]}"'
    asked = read(page.title)
    if M.SIGN_IN in asked.found and not page.fields and len(choices) > 1:
        return Finding(V.SIGN_IN, f"{said} lets somebody sign in", element=element)
    if M.OUTSIDER in page.question.found and len(choices) > 1:
        return Finding(V.SEND, f"{said} tells or lets in other people", element=element)
    if {M.WARNING, M.FINAL} & page.statement.found and (page.refusals or len(choices) > 1):
        return Finding(V.UNKNOWN, f"{said} agrees to what the dialog warns of", element=element)
    unread = is_unread(page) or is_unread_choice(element, page)
    if unread and len(choices) > 1 and not is_way_out(element, choices):
        why = f"{said} agrees to something in a language that is not read"
        return Finding(V.UNKNOWN, why, element=element)
    return None


def _lets_sign_in(element: Element, page: Page) -> Finding | None:
    """The end of a page that asks for a code so that somebody else is signed in."""
    if M.SIGN_IN not in read(page.title).found or not (
        is_next_step(element) and ends(element, page)
    ):
        return None
    said = f'"{element.label[:60]}" of "{page.title[:60]}" lets somebody sign in'
    return Finding(V.SIGN_IN, said, element=element)


def _accepts_warning(element: Element, page: Page) -> Finding | None:
    """A page that says what is lost, and ends by going on."""
    if not (is_next_step(element) and ends(element, page)) or page.says_done:
        return None
    grave = {M.WARNING, M.FINAL, M.LASTING}
    warns = next((e for e in page.texts if grave & read(e.label).found), None)
    if warns is None:
        return None
    said = f'"{element.label[:60]}" continues although "{warns.label[:60]}"'
    return Finding(V.UNKNOWN, said, element=element)
