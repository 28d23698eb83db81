"""Read our keys of a job's payload: its call, the job it continues, its schema, what it requires.

Not the calling: a run calls it as a model would (`agent.models.one_call`), so what changes anything
waits for a review. Invariant: what is handed in under these keys can be used, or is refused.
"""

import json
from collections.abc import Mapping
from typing import Any

from agent.errors import UsageError
from agent.models.model import ToolCall
from agent.results.schema import checked_schema
from agent.sessions.rules.creation import checked_requirements
from agent.tools.direct import direct_call

CALL = "call"  # A tool and its arguments: `{"tool": …, "arguments": {…}}`.
CONTINUES = "continues"  # The number of the job whose standing session it goes on in.

OUTPUT_SCHEMA = "output_schema"  # The JSON Schema that the result of each run has to fit.

REQUIRES = "requires"  # Texts: what each run has to meet beside its prompt.


def requires_of(payload: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a job's runs require beside their prompt.

    Raises:
        UsageError: it is not a list of texts, or one of them cannot be used.
    """
    given = payload.get(REQUIRES, [])
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise UsageError(
            "The payload's `requires` is not a list of texts.", 'Write {"requires": ["…"]}.'
        )
    return checked_requirements(given)


def output_schema_of(payload: Mapping[str, Any]) -> str:
    """Return the schema that a job's results have to fit, as JSON; empty for none.

    Raises:
        UsageError: it cannot be used.
    """
    given = payload.get(OUTPUT_SCHEMA)
    return "" if given is None else checked_schema(json.dumps(given, ensure_ascii=False))


def call_of(payload: Mapping[str, Any]) -> ToolCall | None:
    """Return the one call that a job makes in place of a model; None for work that a model does.

    Raises:
        UsageError: it cannot be made.
    """
    if CALL not in payload:
        return None
    call = payload[CALL]
    tool = call.get("tool") if isinstance(call, dict) else None
    arguments = call.get("arguments", {}) if isinstance(call, dict) else None
    if not isinstance(tool, str) or not isinstance(arguments, dict):
        raise UsageError(
            "The payload's `call` names no tool.",
            'Write {"call": {"tool": "launch_app", "arguments": {"app": "…"}}}, or leave it out.',
        )
    return direct_call(tool, arguments)
