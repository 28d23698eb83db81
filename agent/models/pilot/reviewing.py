"""Review and summarize without a model: read the written past for what failed first.

The pilot as a reviewer. It judges by outcomes alone and says so. Invariant: the first failure in
the past is the first finding; a past without failures gives none.
"""

import re
from collections.abc import Sequence

from agent.models.model import Message, MessageKind
from agent.models.pilot.moves import Call

_STEP = re.compile(r"^step (?P<step>\d+): (?P<said>.*)$")
_FAILED = re.compile(r"^(?:failed|unknown|blocked): ", re.IGNORECASE)
_ERROR = re.compile(r"^(?:error|model error|turn ended early): ")
_MAX_FINDINGS = 5


def review(messages: Sequence[Message]) -> Call:
    """Publish what the outcomes say."""
    findings: list[dict[str, object]] = []
    step = 0
    for line in _past(messages):
        found = _STEP.match(line)
        said = found["said"] if found else line
        step = int(found["step"]) if found else step
        if _FAILED.match(said) or "WARNING" in said[:40] or _ERROR.match(line):
            findings.append({"title": said[:160], "body": line, "step": step, "confidence": 0.5})
    kept = findings[:_MAX_FINDINGS]
    for later in kept[1:]:
        later["confidence"] = 0.3
    explanation = (
        f"Judged by outcomes alone: {len(findings)} of them went wrong, first at step "
        f"{findings[0]['step']}."
        if findings
        else "Judged by outcomes alone: none of them went wrong."
    )
    arguments = {"findings": kept, "explanation": explanation, "confidence": 0.4}
    return Call("publish_review", arguments, explanation)


def summarize(messages: Sequence[Message]) -> str:
    """Return in a few lines how far the work is."""
    lines = _past(messages)
    done = [line for line in lines if " done: " in line]
    wrong = [line for line in lines if " failed: " in line or " unknown: " in line]
    last = done[-1] if done else "nothing yet"
    text = f"{len(done)} calls were carried out, {len(wrong)} failed. The last that worked: {last}"
    return f"{text} The last that failed: {wrong[-1]}" if wrong else text


def _past(messages: Sequence[Message]) -> list[str]:
    text = next((m.text for m in reversed(messages) if m.kind is MessageKind.GOAL), "")
    return text.partition("## What happened\n")[2].splitlines()
