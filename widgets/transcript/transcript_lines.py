"""Write the items of a transcript as paragraphs: what is said, and what stands at the right.

Pure functions from records to parts; `widgets.transcript.transcript_view` lays them out. Invariant:
every foreign string is cleaned here.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, assert_never

from agent.records import QuestionKind, SeenEffect, Speaker, attributed
from agent.state.effect_text import effect_line
from agent.state.reducer import (
    ActionView,
    AttentionKind,
    Item,
    MessageItem,
    NoticeItem,
    QuestionItem,
    StepItem,
    Tone,
)
from agent.text import call_result_words, clean, one_line
from widgets.base import formatting, status
from widgets.base.rows import Parts
from widgets.base.time_bar import bar, legend, total_ms

_BRIEF = 240
_NO_NAMES: Mapping[str, str] = MappingProxyType({})
_WHOLE = 20_000
EFFECT_MARK = "Δ"
"""Before what an act was seen to have changed."""


class Paragraph(NamedTuple):
    """Text that wraps under its indent; the right part stays on the first line."""

    head: Parts
    body: Parts
    right: Parts = ()


_INDENT = "     "  # Five cells: a cursor, three digits of a step number, a space.


def paragraphs(
    item: Item, *, expanded: bool, names: Mapping[str, str] = _NO_NAMES
) -> list[Paragraph]:
    """Write one item; `names` are what phones are called, by serial."""
    match item:
        case StepItem():
            return _step(item, expanded)
        case MessageItem():
            return _message(item, expanded)
        case QuestionItem():
            return _question(item, expanded)
        case NoticeItem():
            return _notice(item, expanded, names)
        case _:
            assert_never(item)


def _text(text: str, expanded: bool) -> str:
    return clean(text, _WHOLE) if expanded else one_line(text, _BRIEF)


def _step(step: StepItem, expanded: bool) -> list[Paragraph]:
    head: Parts = ((f" {step.number:>3} ", "bold $primary" if not step.done else "bold $muted"),)
    # The sums stand beside the first action: its line is short, a thought's is not.
    sums = _sums(step)
    written: list[Paragraph] = []
    if step.thought and (expanded or not _is_said_below(step)):
        right = () if step.actions else sums
        written.append(Paragraph(head, ((_text(step.thought, expanded), "$foreground"),), right))
        head = ((_INDENT, ""),)
    for at, action in enumerate(step.actions):
        written.append(_action(head, action, sums if at == 0 else ()))
        head = ((_INDENT, ""),)
        written.extend(_result(action, expanded))
    written.extend(_effect(effect) for effect in step.effects)
    if not written:
        doing = "thinking" if step.element_count or step.package else "looking at the screen"
        doing = "nothing done" if step.done else f"{doing} …"
        written.append(Paragraph(head, ((doing, "$muted"),), sums))
    if expanded:
        written.extend(_details(step))
    return written


def _is_said_below(step: StepItem) -> bool:
    """Return whether a step's thought is the result, which is said once, when it is published."""
    return any(action.tool == "finish" and mark_is_good(action) for action in step.actions)


def _sums(step: StepItem) -> Parts:
    if not step.done:
        return (("…", "$live"),)
    spent = formatting.cost(step.usage)
    money: Parts = ((f"{spent}  ", "$faint"),) if spent else ()
    return (
        *money,
        *bar(step.time, 8),
        (f" {formatting.duration(total_ms(step.time)):>6}", "$muted"),
    )


def _action(head: Parts, action: ActionView, sums: Parts) -> Paragraph:
    mark = status.UNDER_WAY if action.outcome is None else status.OUTCOME[action.outcome]
    chip: Parts = ()
    if action.element is not None:
        chip = ((f"{action.element.number}", "$chip"), (" ", ""))
    is_finished = action.tool == "finish" and mark_is_good(action)
    about = "" if is_finished else formatting.action_object(action)
    body: Parts = (
        (f"{mark.glyph} ", mark.style),
        (f"{formatting.action_verb(action)} ", "bold $foreground"),
        *chip,
        (about, "$foreground"),
    )
    said: Parts = ()
    if action.outcome is not None and mark.word != "done":
        said = ((mark.word, mark.style),)
    return Paragraph(head, body, (*said, ("  ", ""), *sums) if said and sums else (*said, *sums))


def _result(action: ActionView, expanded: bool) -> list[Paragraph]:
    is_told = action.tool == "finish" and mark_is_good(action) and not expanded
    if is_told or not action.result.strip():
        # What a session came to stands below it, once, as its result.
        return []
    style = "$muted" if action.outcome is None or mark_is_good(action) else "$warn"
    return [
        Paragraph(
            ((_INDENT + "  ", ""),), ((_text(call_result_words(action.result), expanded), style),)
        )
    ]


def _effect(effect: SeenEffect) -> Paragraph:
    style = "$faint" if effect.undone_by else "$muted"
    return Paragraph(((_INDENT + "  ", ""),), ((f"{EFFECT_MARK} {effect_line(effect)}", style),))


def mark_is_good(action: ActionView) -> bool:
    """Return whether an action ended well."""
    return action.outcome is not None and status.OUTCOME[action.outcome].word == "done"


def _details(step: StepItem) -> list[Paragraph]:
    indent: Parts = ((_INDENT + "  ", ""),)
    told: list[tuple[str, str]] = []
    if step.package:
        told.append(("app", one_line(step.package)))
    if step.element_count:
        told.append(("elements", str(step.element_count)))
    if step.change:
        told.append(("changed", one_line(step.change, 400)))
    if step.frame is not None:
        told.append(("frame", one_line(step.frame.digest[:16])))
    told.extend((f"{formatting.action_verb(a)} ", clean(a.arguments, _WHOLE)) for a in step.actions)
    written = [
        Paragraph(indent, ((f"{name:<9}", "$faint"), (value, "$muted"))) for name, value in told
    ]
    if shares := legend(step.time):
        line = tuple(part for share in shares for part in (*share, ("  ", "")))
        written.append(Paragraph(indent, ((f"{'time':<9}", "$faint"), *line)))
    if spent := formatting.spent(step.usage):
        written.append(Paragraph(indent, ((f"{'model':<9}", "$faint"), (spent, "$muted"))))
    return written


def _message(said: MessageItem, expanded: bool) -> list[Paragraph]:
    if not said.steer:
        right: Parts = ()
    elif said.withdrawn:
        by_product = said.speaker is Speaker.PRODUCT
        right = (("replaced by a later one" if by_product else "taken back", "$faint"),)
    elif said.applied_step:
        right = ((f"applied at step {said.applied_step}", "$muted"),)
    else:
        right = (("waits for the next step", "$warn"),)
    text = _text(said.text, expanded)
    if said.speaker is Speaker.PRODUCT:
        # What Switchboard itself told the model: nobody typed it.
        mark = status.TONE[Tone.INFO]
        return [Paragraph(((f"   {mark.glyph} ", mark.style),), ((text, "$muted"),), right)]
    who = "you" if said.speaker is Speaker.OPERATOR else _WRITERS[said.speaker]
    return [Paragraph(((f"{who:>5} ", "bold $primary"),), ((text, "$foreground"),), right)]


_WRITERS = {Speaker.MODEL: "agent", Speaker.PHONE: "phone"}


def _question(asked: QuestionItem, expanded: bool) -> list[Paragraph]:
    question = asked.question
    mark = status.ATTENTION[AttentionKind(question.kind.value)]
    verb = "asks to approve" if question.kind is QuestionKind.APPROVAL else "asks"
    ended = asked.answer is not None or bool(asked.closed)
    style = "$muted" if ended else "$ask"
    is_several = len(question.parts) > 1
    shown = question.shown
    if question.kind is QuestionKind.APPROVAL and not expanded:
        # Its first line says what would happen; the facts are on the card, and when it is unfolded.
        shown = shown.partition("\n")[0]
    what: Parts = (
        ((f"{verb} {len(question.parts)} things:", style),)
        if is_several
        else (
            *(((f"{verb}: ", style),) if question.speaker is Speaker.PRODUCT else ()),
            (_text(shown, expanded), "$foreground"),
        )
    )
    waits: Parts = () if ended else (("waits for you", "$ask"),)
    written = [Paragraph(((f"   {mark.glyph} ", style),), what, waits)]
    if is_several:
        written.extend(_parts(asked, expanded))
    if asked.answer is not None:
        said = formatting.answer_word(question, asked.answer)
        answer = "•••" if question.secret else _answer_text(said, expanded)
        who = one_line(formatting.answerer(asked.answered_by), 40)
        written.append(
            Paragraph(
                ((_INDENT, ""),), ((f"{who}: ", "bold $primary"), (answer or "—", "$foreground"))
            )
        )
    elif asked.closed:
        written.append(
            Paragraph(((_INDENT, ""),), ((f"closed: {one_line(asked.closed)}", "$muted"),))
        )
    return written


def _parts(asked: QuestionItem, expanded: bool) -> list[Paragraph]:
    """Write each of several questions under its number, with what there is to choose from."""
    written = []
    for number, part in enumerate(asked.question.parts, 1):
        own = part.speaker is Speaker.PRODUCT
        name = f"{one_line(part.header, 40)}: " if part.header and own else ""
        body: Parts = ((name, "$muted"), (_text(part.shown, expanded), "$foreground"))
        if part.options:
            labels = " · ".join(one_line(option.shown, 80) for option in part.options)
            body = (*body, (f"  {labels}", "$muted"))
        written.append(Paragraph(((f"{_INDENT}{number} ", "$muted"),), body))
    return written


def _answer_text(answer: str, expanded: bool) -> str:
    """Write the answers to several questions on one line, each apart from the next."""
    return _text(answer if expanded else answer.replace("\n\n", " · "), expanded)


def _notice(notice: NoticeItem, expanded: bool, names: Mapping[str, str]) -> list[Paragraph]:
    mark = status.TONE[notice.tone]
    strong = notice.tone in {Tone.RESULT, Tone.ERROR}
    text = attributed(notice.text, notice.speaker)
    if notice.speaker is Speaker.PRODUCT:
        text = _with_names(text, names)
    body: Parts = ((_text(text, expanded or strong), mark.style),)
    written = [Paragraph(((f"   {mark.glyph} ", mark.style),), body)]
    if notice.remedy:
        written.append(Paragraph(((_INDENT, ""),), ((_text(notice.remedy, expanded), "$muted"),)))
    return written


def _with_names(text: str, names: Mapping[str, str]) -> str:
    """Name phones as the lists do; a serial within a longer word is not one."""
    for serial, name in names.items():
        if serial in text:
            whole = rf"(?<![\w.:-]){re.escape(serial)}(?![\w:-])"
            text = re.sub(whole, name.replace("\\", r"\\"), text)
    return text


def as_text(item: Item, *, indented: bool = True) -> str:
    """Write one item as plain text, whole; without the indents of the screen for a letter."""
    lines: list[str] = []
    for paragraph in paragraphs(item, expanded=True):
        text = "".join(text for text, _ in (*paragraph.head, *paragraph.body)).rstrip()
        lines.append(text if indented else text.lstrip())
    return "\n".join(lines)


def first_holding(words: str, items: Iterable[Item]) -> Item | None:
    """Return the first item that holds every word, in any case; None when none does, or no word."""
    wanted = words.casefold().split()
    if not wanted:
        return None
    for item in items:
        hay = as_text(item).casefold()
        if all(word in hay for word in wanted):
            return item
    return None
