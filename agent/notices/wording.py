"""What a notice says, pure.

Invariant: what a phone or a model wrote is cleaned, on one line, and no longer than the preview;
what passes between programs only is never shown.
"""

from __future__ import annotations

from agent.records import (
    Notice,
    NoticeKind,
    Question,
    Session,
    SessionState,
    Speaker,
    attributed,
)
from agent.safety.attribution import FLAGGED, asks_for_secret
from agent.text import one_line

PREVIEW_LIMIT_CHARS = 400
"""CONTRACTS 1.13."""

_NAME_LIMIT_CHARS = 60
_INTERNAL = ("__codex_bridge__ ", "__codex_bridge_result__ ")
_INTERNAL_SHOWN = "Codex needs input."
_KINDS = {
    SessionState.WAITING_FOR_USER: NoticeKind.WAITING,
    SessionState.COMPLETED: NoticeKind.COMPLETED,
    SessionState.FAILED: NoticeKind.FAILED,
    SessionState.CANCELLED: NoticeKind.CANCELLED,
}
_TITLES = {
    NoticeKind.WAITING: "Input needed for {}",
    NoticeKind.COMPLETED: "Finished {}",
    NoticeKind.FAILED: "Hit an issue in {}",
    NoticeKind.CANCELLED: "Cancelled {}",
}


def kind_of(state: SessionState) -> NoticeKind | None:
    """Return what kind of notice a state makes; None when it makes none."""
    return _KINDS.get(state)


def notice_for(session: Session, token: str, question: Question | None, now_ms: int) -> Notice:
    """Write the notice of a session that waits or has ended.

    Args:
        session: in a state that makes a notice.
        token: of this notice.
        question: what it, or a child of it, asks.
        now_ms: when it is posted.
    """
    kind = _KINDS[session.state]
    name = one_line(session.title or session.goal, _NAME_LIMIT_CHARS) or session.session_id
    return Notice(
        token=token,
        session_id=session.session_id,
        kind=kind,
        title=_TITLES[kind].format(name),
        text=one_line(_text(session, kind, question), PREVIEW_LIMIT_CHARS),
        speaker=_speaker(kind, question),
        serial=session.serial,
        question_id=question.question_id if question else "",
        options=tuple(option.label for option in question.options) if question else (),
        # A secret is not asked for where it would be shown or kept.
        may_reply=kind is NoticeKind.WAITING and not (question is not None and question.secret),
        posted_ms=now_ms,
    )


def _text(session: Session, kind: NoticeKind, question: Question | None) -> str:
    match kind:
        case NoticeKind.WAITING:
            if question is not None and not question.text.startswith(_INTERNAL):
                return question.shown
            said = session.latest_error or "It waits to go on."
            return said if question is None else _INTERNAL_SHOWN
        case NoticeKind.COMPLETED:
            said = attributed(session.latest_result, Speaker.MODEL)
            return f"{said} ({FLAGGED})" if asks_for_secret(session.latest_result) else said
        case NoticeKind.FAILED:
            return session.latest_error
        case _:
            return ""


def _speaker(kind: NoticeKind, question: Question | None) -> Speaker:
    if kind is NoticeKind.COMPLETED:
        return Speaker.MODEL
    return Speaker.PRODUCT if question is None else question.speaker
