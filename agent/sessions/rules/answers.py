"""What counts as an answer, and how several questions of one request are shown, pure.

Not the registry of open questions (`agent.sessions.registry.open_questions`). Invariants: an answer
is an option in the asker's own spelling, or the operator's text; what is meant to be stored holds
no secret.
"""

import re
from collections.abc import Mapping, Sequence

from agent.errors import UsageError
from agent.protocol import CloseReason, QuestionClosed
from agent.records import Answer, Question, QuestionOption, QuestionPart
from agent.safety.redacting.redaction import redact_secrets
from agent.text import clean

ANSWER_LIMIT_CHARS = 10_000
PARTS_LIMIT = 10
REPLY_RULE = "Reply with one answer per question, separated by a blank line."

_BLANK_LINE = re.compile(r"\r?\n[ \t]*(?:\r?\n[ \t]*)+")


def expired(question: Question, now_ms: int, *, by: str = "") -> QuestionClosed:
    """Return the end of a question that nobody answered, with the limit that was over.

    Args:
        by: the client whose own limit is over; it counts where that of the question is not.
    """
    own_is_over = 0 < question.deadline_ms <= now_ms
    until_ms = question.deadline_ms if own_is_over else now_ms
    return QuestionClosed(
        question_id=question.question_id,
        reason=CloseReason.EXPIRED,
        limit_ms=max(0, until_ms - question.asked_ms),
        late_ms=now_ms - until_ms,
        closed_by="" if own_is_over else by,
    )


def read_answer(
    question: Question, text: str = "", answers: Mapping[str, Sequence[str]] | None = None
) -> Answer:
    """Return an answer as it counts.

    Args:
        question: what was asked.
        text: one text. For several questions it is split at blank lines, the n-th piece answers the
            n-th question, and a text that does not split answers the first (CONTRACTS 1.11).
        answers: by the id of a question of several, instead of a text.

    Raises:
        UsageError: there is nothing in it, it is too long, it is no text, or answers nothing asked.
    """
    if not question.parts:
        given = [text, *(one for several in (answers or {}).values() for one in several)]
        chosen = next((one for one in given if one.strip()), "")
        return Answer(text=_checked(chosen, question.options, secret=question.secret))
    if not answers:
        _check_text(text, "An answer", ANSWER_LIMIT_CHARS)
        answers = split_text(question.parts, text)
    parts = {part.part_id: part for part in question.parts}
    unknown = [part_id for part_id in answers if part_id not in parts]
    if unknown:
        raise UsageError(
            f"Question {question.question_id} has no part {unknown[0][:40]!r}.",
            f"Answer by one of: {', '.join(parts)}.",
        )
    by_part = {
        part_id: tuple(
            _checked(one, parts[part_id].options, secret=parts[part_id].secret)
            for one in given
            if one.strip()
        )
        for part_id, given in answers.items()
    }
    by_part = {part_id: given for part_id, given in by_part.items() if given}
    if not by_part:
        raise UsageError("An answer is empty.", "Write some text.")
    ordered = {part_id: by_part[part_id] for part_id in parts if part_id in by_part}
    return Answer(text="\n\n".join(", ".join(given) for given in ordered.values()), by_part=ordered)


def split_text(parts: Sequence[QuestionPart], text: str) -> dict[str, tuple[str, ...]]:
    """Share one text out to several questions; more pieces than questions stay with the last."""
    pieces = _BLANK_LINE.split(text.strip(), maxsplit=len(parts) - 1)
    return {
        part.part_id: (piece.strip(),) for part, piece in zip(parts, pieces, strict=False) if piece
    }


def to_store(question: Question, answer: Answer) -> Answer:
    """Return what of an answer is stored: nothing of what is secret."""
    if not question.secret:
        return answer
    open_parts = [part.part_id for part in question.parts if not part.secret]
    kept = {part_id: answer.by_part[part_id] for part_id in open_parts if part_id in answer.by_part}
    return Answer(by_part=kept)


def shown_text(parts: Sequence[QuestionPart]) -> str:
    """Write several questions as one text, for whoever sees only the text."""
    return "\n\n".join(map(_shown, parts))


def _shown(part: QuestionPart) -> str:
    lines = [f"{part.header}:"] if part.header else []
    lines.append(part.text)
    if part.options:
        lines.append("Options:")
        lines += [f"- {o.label}: {o.description}".removesuffix(": ") for o in part.options]
    return "\n".join(lines)


def checked_parts(parts: Sequence[QuestionPart]) -> tuple[QuestionPart, ...]:
    """Return the questions of one request when they can be told apart and asked.

    Raises:
        UsageError: there are none or too many, two have the same id, or one asks nothing.
    """
    if not 1 <= len(parts) <= PARTS_LIMIT:
        raise UsageError(f"{len(parts)} questions were asked at once.", f"Use 1 to {PARTS_LIMIT}.")
    if len({part.part_id for part in parts}) < len(parts):
        raise UsageError("Two questions have the same id.", "Give each its own.")
    for number, part in enumerate(parts, start=1):
        _check_text(part.text, f"Question {number}", ANSWER_LIMIT_CHARS)
    return tuple(parts)


def checked_text(text: str, what: str, *, limit: int = 20_000) -> str:
    """Return what the operator wrote without cards, passwords and other secrets, to be stored.

    Raises:
        UsageError: it is blank, as are control characters and escape sequences alone, is longer
            than `limit` characters, or holds a lone surrogate.
    """
    _check_text(text, what, limit)
    return redact_secrets(text)


def _checked(answer: str, options: Sequence[QuestionOption], *, secret: bool) -> str:
    _check_text(answer, "An answer", ANSWER_LIMIT_CHARS)
    if secret:
        # Unchanged: it goes to the call that asked, and nowhere else.
        return answer
    for option in options:
        if option.label.casefold() == answer.strip().casefold():
            return option.label
    return redact_secrets(answer)


def _check_text(text: str, what: str, limit: int) -> None:
    if len(text) > limit:
        raise UsageError(f"{what} has {len(text):,} characters.", f"Use at most {limit:,}.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{what} is not valid text: {error.reason}.", "Write it again.") from error
    if not text.strip():
        raise UsageError(f"{what} is empty.", "Write some text.")
    if not clean(text, limit).strip():
        raise UsageError(f"{what} is only control characters.", "Write some text.")
