"""Write what a message says, pure: the notice, or the card of an approval.

Invariants: what looks like a secret is taken out; an approval is offered only where its whole card
is in the message; what is asked in secret is answered at a console.
"""

from collections.abc import Callable, Iterable

from agent.channels.channel import Button, Message
from agent.channels.urgency import Urgency
from agent.records import Notice, NoticeKind, Question
from agent.safety.approval import APPROVE, DENY
from agent.safety.redacting.redaction import redact_secrets
from agent.state.approval_card import ON_SCREEN, FactLine, approval_card
from agent.text import clean, counted, one_line

AT_A_CONSOLE = "Answer at a console."
MOST_TITLE_CHARS = 120
_MOST_DIGEST = 20
_MOST_CHARS = 10_000

Issue = Callable[[str], str]
"""Make a token for one answer; for any answer in words with an empty one."""


def message_of(
    notice: Notice,
    question: Question | None,
    urgency: Urgency,
    *,
    most_bytes: int,
    phone: str = "",
    issue: Issue | None = None,
) -> Message:
    """Return the message of a notice.

    Args:
        question: what is asked; None: nothing that is open.
        most_bytes: how much text one message carries.
        phone: what the operator calls the phone.
        issue: makes the tokens of answers; None: none are offered.
    """
    written = redact_secrets(_text(notice, question, phone))
    text = _cut(written, most_bytes)
    buttons: tuple[Button, ...] = ()
    words_token = ""
    if question is not None:
        labels = _labels(question) if issue is not None else ()
        is_approval = question.is_approval
        if text != written:
            labels = tuple(one for one in labels if one == DENY) if is_approval else labels
        if issue is not None and not question.secret:
            buttons = tuple(Button(one, issue(one)) for one in labels)
            words_token = issue("")
        if not buttons and (is_approval or question.secret):
            text = f"{text}\n\n{AT_A_CONSOLE}".strip()
        elif is_approval and all(one.label != APPROVE for one in buttons):
            text = f"{text}\n\nTo approve it: {AT_A_CONSOLE[0].lower()}{AT_A_CONSOLE[1:]}"
    return Message(
        key=notice.token,
        title=redact_secrets(one_line(notice.title, MOST_TITLE_CHARS)),
        text=text,
        urgency=urgency,
        buttons=buttons,
        words_token=words_token,
        session_id=notice.session_id,
        question_id=notice.question_id,
    )


def digest_of_notices(key: str, notices: Iterable[Notice]) -> Message:
    """Return one message for several notices that ask nothing."""
    told = tuple(notices)
    lines = [redact_secrets(one_line(one.title, MOST_TITLE_CHARS)) for one in told]
    shown = lines[:_MOST_DIGEST]
    if len(lines) > len(shown):
        shown.append(f"and {len(lines) - len(shown)} more")
    return Message(
        key=key,
        title=counted(len(told), "notice"),
        text="\n".join(f"- {one}" for one in shown),
        urgency=Urgency.LOW,
    )


def _labels(question: Question) -> tuple[str, ...]:
    """Return the answers that a press gives: an approval's once, the options of a question."""
    if question.secret or question.parts:
        return ()
    labels = tuple(one.label for one in question.options)
    if not question.is_approval:
        return labels
    return tuple(one for one in labels if one in (APPROVE, DENY)) or (APPROVE, DENY)


def _text(notice: Notice, question: Question | None, phone: str) -> str:
    if notice.kind is not NoticeKind.WAITING or question is None:
        return notice.text
    card = approval_card(question, phone)
    if card is None:
        return clean(question.shown, _MOST_CHARS)
    parts = (card.headline, card.act, "\n".join(map(_fact, card.facts)), card.note)
    return "\n\n".join(filter(None, parts))


def _fact(line: FactLine) -> str:
    """Write a fact; further lines are indented, so that none reads as a fact of its own."""
    note = f" ({line.note})" if line.note and line.note != ON_SCREEN else ""
    text = line.text.replace("\n", "\n    ")
    return f"{line.name}: {text}{note}"


def _cut(text: str, most_bytes: int) -> str:
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= most_bytes:
        return text
    return encoded[: most_bytes - 3].decode("utf-8", "ignore") + "…"
