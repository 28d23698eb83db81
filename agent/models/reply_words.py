"""The JSON reply of a tool as a sentence, for people who read what a job came to.

Not the reply itself, which a model reads and its step keeps. Invariant: a text that is no such
reply comes out as it is; nothing is said that the reply does not say.
"""

import msgspec

from agent.text import sentence

_DONE = {"created": "was created", "stopped": "was stopped"}


class _Reply(msgspec.Struct, frozen=True):
    """What the replies about jobs, watchers and commitments have in them, all of it optional."""

    status: str
    title: str = ""
    reason: str = ""
    remedy: str = ""
    job_id: int = 0
    watcher_id: int = 0
    watcher_ids: tuple[int, ...] = ()
    commitment_id: int = 0
    commitment_status: str = ""


def in_words(result: str) -> str:
    """Return what a tool's result says, in words; a result in words comes back as it is."""
    try:
        reply = msgspec.json.decode(result, type=_Reply)
    except msgspec.MsgspecError:
        return result
    kind, _, what = reply.status.rpartition(".")
    if what == "not_found":
        return f"There is no {_subject_of(reply) or _as_words(kind)}."
    if reply.reason:
        # A code of OpenPhone's, such as empty_background_job, or a sentence of ours.
        reason = reply.reason if " " in reply.reason else f"Refused: {_as_words(reply.reason)}"
        return " ".join(sentence(said) for said in (reason, reply.remedy) if said)
    if reply.status == "watcher.stopped" and len(reply.watcher_ids) != 1:
        numbers = ", ".join(map(str, reply.watcher_ids))
        return f"Watchers {numbers} were stopped." if numbers else "No watcher was stopped."
    which = _subject_of(reply)
    if not which:
        return sentence(_as_words(reply.status.replace(".", ": ")))
    which = f"{which} “{reply.title}”" if reply.title else which
    which = which[0].upper() + which[1:]
    if reply.commitment_status and what == "updated":
        return f"{which} is {_as_words(reply.commitment_status)}."
    return f"{which} {_DONE.get(what, _as_words(what))}."


def _subject_of(reply: _Reply) -> str:
    """Name what a reply is about by its kind and number; empty when it names nothing."""
    if reply.job_id:
        return f"job {reply.job_id}"
    if reply.commitment_id:
        return f"commitment {reply.commitment_id}"
    watcher_id = reply.watcher_id or next(iter(reply.watcher_ids), 0)
    return f"watcher {watcher_id}" if watcher_id else ""


def _as_words(code: str) -> str:
    return code.replace("_", " ").strip()
