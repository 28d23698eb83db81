"""Judge keys: what ENTER would submit, and what DELETE would take away."""

from agent.records import EffectVerb, Element
from agent.safety.effects.context import Context
from agent.safety.effects.finding import Finding, worst
from agent.safety.effects.labels import is_send
from agent.safety.effects.page import Page
from agent.safety.effects.press import find_press
from agent.safety.effects.structure.ending import ends
from agent.safety.effects.structure.fields import is_composer, is_search, is_stake
from agent.safety.effects.typing import is_stored, overwrites
from agent.safety.words import id_words, words

_COMMANDED = frozenset(
    {
        *("terminal", "termux", "shell", "console", "ssh", "connectbot", "juicessh", "adb", "repl"),
        *("assistant", "copilot", "bixby", "gemini", "alexa"),
    }
)
"""Parts of the names of packages, activities and ids of what carries out what is written to it."""


def judge_enter(page: Page, context: Context, typed: str = "") -> Finding | None:
    """Judge the enter key: it presses what a form, a chat or a dialog would do next."""
    if not page.elements:
        return Finding(
            EffectVerb.UNKNOWN, "the screen cannot be read, and the enter key may do anything"
        )
    field = next((f for f in page.fields if f.focused), None)
    if field is not None and is_search(field):
        return None
    if page.is_dialog:
        pressed = worst(find_press(e, page, context) for e in page.pressables)
        if pressed is not None:
            said = f"the enter key may press the dialog's button: {pressed.reason}"
            return Finding(pressed.verb, said, element=pressed.element)
    if field is not None or typed:
        for element in page.pressables:
            if page.is_row(element) or page.is_tile(element):
                continue
            found = find_press(element, page, context)
            if found is not None and found.verb is EffectVerb.SPEND:
                said = f'the enter key may press "{element.label[:60]}"'
                return Finding(EffectVerb.SPEND, said, element=element)
    amount = field is not None and is_stake(field) and page.speaks_of_money
    if amount and field is not None and not any(ends(e, page) for e in page.pressables):
        said = f'the enter key may hand in "{(field.value or typed.strip())[:60]}"'
        return Finding(EffectVerb.SPEND, said, element=field)
    if field is not None and (typed.strip() or field.value.strip()) and takes_commands(page, field):
        said = f'the enter key carries out "{(field.value or typed).strip()[:60]}"'
        return Finding(EffectVerb.UNKNOWN, said, element=field)
    composing = page.composer is not None and (field is None or is_composer(field))
    if any(is_send(e) for e in page.pressables) or (
        composing and (typed.strip() or (page.composer and page.composer.value))
    ):
        return Finding(
            EffectVerb.SEND, "the enter key may send the message on this screen", element=field
        )
    return None


def takes_commands(page: Page, field: Element) -> bool:
    """Return whether what is written into a field is carried out: a shell's, an assistant's."""
    named = {*page.activity, *id_words(field.resource_id), *words(page.package.replace(".", " "))}
    return bool(named & _COMMANDED)


def judge_delete(page: Page, context: Context) -> Finding | None:
    """Judge the delete key: in a field it takes away what is stored there, elsewhere it deletes
    what is selected.
    """
    field = next((f for f in page.fields if f.focused), None)
    if field is None:
        chosen = next((e for e in page.pressables if e.selected and page.is_row(e)), None)
        if chosen is None:
            return None
        return Finding(EffectVerb.DELETE, f'it may delete "{chosen.label[:60]}"', element=chosen)
    return overwrites(field) if is_stored(field, page, context) else None
