"""What a notice says, pure.

Invariant: what a phone or a model wrote is cleaned, on one line, and no longer than the preview;
what passes between programs only is never shown.
"""

from agent import records
from agent.safety.attribution import FLAGGED, asks_for_secret
from agent.text import one_line

PREVIEW_LIMIT_CHARS = 400  # CONTRACTS 1.13.

_NAME_LIMIT_CHARS = 60
_INTERNAL = ("__codex_bridge__ ", "__codex_bridge_result__ ")
_INTERNAL_SHOWN = "Codex needs input."
_KINDS = {
    records.SessionState.WAITING_FOR_USER: records.NoticeKind.WAITING,
    records.SessionState.COMPLETED: records.NoticeKind.COMPLETED,
    records.SessionState.FAILED: records.NoticeKind.FAILED,
    records.SessionState.CANCELLED: records.NoticeKind.CANCELLED,
}
_TITLES = {
    records.NoticeKind.WAITING: "Input needed for {}",
    records.NoticeKind.COMPLETED: "Finished {}",
    records.NoticeKind.FAILED: "Hit an issue in {}",
    records.NoticeKind.CANCELLED: "Cancelled {}",
}


def kind_of(state: records.SessionState) -> records.NoticeKind | None:
    """Return what kind of notice a state makes; None when it makes none."""
    return _KINDS.get(state)


def notice_for(
    session: records.Session, token: str, question: records.Question | None, now_ms: int
) -> records.Notice:
    """Write the notice of a session that waits or has ended.

    Args:
        session: in a state that makes a notice.
        token: of this notice.
        question: what it, or a child of it, asks.
        now_ms: when it is posted.
    """
    kind = _KINDS[session.state]
    name = one_line(session.title or session.goal, _NAME_LIMIT_CHARS) or session.session_id
    return records.Notice(
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
        may_reply=kind is records.NoticeKind.WAITING
        and not (question is not None and question.secret),
        posted_ms=now_ms,
    )


def _text(
    session: records.Session, kind: records.NoticeKind, question: records.Question | None
) -> str:
    match kind:
        case records.NoticeKind.WAITING:
            if question is not None and not question.text.startswith(_INTERNAL):
                return question.shown
            said = session.latest_error or "It waits to be resumed."
            return said if question is None else _INTERNAL_SHOWN
        case records.NoticeKind.COMPLETED:
            said = records.attributed(session.latest_result, records.Speaker.MODEL)
            return f"{said} ({FLAGGED})" if asks_for_secret(session.latest_result) else said
        case records.NoticeKind.FAILED:
            return session.latest_error
        case _:
            return ""


def _speaker(kind: records.NoticeKind, question: records.Question | None) -> records.Speaker:
    if kind is records.NoticeKind.COMPLETED:
        return records.Speaker.MODEL
    return records.Speaker.PRODUCT if question is None else question.speaker
