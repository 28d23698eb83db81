"""What of a background action a person may be asked to confirm, and the digests that bind it.

Pure; not the asking. The digests are OpenPhone's: sha256 of the tool, a newline and the canonical
JSON of its arguments; and of what an approval is bound to, joined by newlines. Invariant: what
looks like a secret is never put into a record that waits for a review.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from agent.errors import UsageError
from agent.records import Confirmation, Element

PARAMS_LIMIT = 64
RECORD_LIMIT_CHARS = 12_000
SUMMARY_LIMIT_CHARS = 1000
_BASE64_LIMIT_CHARS = 2048

_SECRET_KEY = re.compile(
    r"api_?key|authorization|\Aauth\Z|credential|private_?key|token|secret|password|cookie"
    r"|screenshot",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(r"\s*(?:bearer|basic)\s+\S|.*-----BEGIN |\s*data:image/", re.I | re.S)
_BASE64 = re.compile(rf"[A-Za-z0-9+/=_-]{{{_BASE64_LIMIT_CHARS + 1},}}")
_CLOCK = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp]\.?[Mm]\.?)?\b")
_SYSTEM_BARS = "com.android.systemui"
_CELLS = 24


def read_params(arguments: str) -> dict[str, Any]:
    """Read the arguments of a call that is to be confirmed.

    Raises:
        UsageError: they are no JSON object, too many, or hold what looks like a secret.
    """
    try:
        params = msgspec.json.decode(arguments or "{}", type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise UsageError(
            "The arguments are not a JSON object, so they cannot be reviewed."
        ) from error
    if len(params) > PARAMS_LIMIT or len(arguments) > RECORD_LIMIT_CHARS // 2:
        raise UsageError("The arguments are too long to be reviewed.", "Do it in smaller pieces.")
    if _holds_secret(params):
        raise UsageError(
            "The arguments contain what looks like a secret, so they are not stored for review.",
            "Do this while a person is present.",
        )
    return params


def _holds_secret(value: object, key: str = "") -> bool:
    if _SECRET_KEY.search(key):
        return True
    match value:
        case dict():
            if "data" in value and "base64" in value:
                return True
            return any(_holds_secret(inner, str(name)) for name, inner in value.items())
        case list():
            return any(_holds_secret(inner) for inner in value)
        case str():
            return bool(_SECRET_VALUE.match(value) or _BASE64.search(value))
        case _:
            return False


def params_digest(tool: str, params: Mapping[str, Any]) -> str:
    """Return the sha256, in hex, of a tool and its arguments in canonical JSON (sorted keys)."""
    canonical = msgspec.json.encode(params, order="sorted").decode()
    return _sha256(f"{tool}\n{canonical}")


def binding_digest(record: Confirmation) -> str:
    """Return the sha256, in hex, of what one approval is bound to."""
    bound = (
        str(record.job_id),
        record.runtime,
        record.phone_session_id,
        record.tool,
        record.params_digest,
        record.idempotency_key,
        str(record.expires_at),
    )
    return _sha256("\n".join(bound))


def is_intact(record: Confirmation) -> bool:
    """Return whether a stored record still is what was put to the operator."""
    return record.params_digest == params_digest(
        record.tool, record.params
    ) and record.binding_digest == binding_digest(record)


def screen_digest(
    package: str, activity: str, elements: tuple[Element, ...], *, acted_on: Element | None
) -> str:
    """Return the sha256, in hex, of what a person judged by: the app, its texts, values and places.

    Clocks and the system's bars are left out: they change by themselves.

    Args:
        package: the app in front; activity: its screen.
        elements: as they were numbered.
        acted_on: the element that is to be touched, whose whole label counts.
    """
    lines = [package, activity]
    for element in elements:
        if element.package == _SYSTEM_BARS:
            continue
        middle = element.bounds.center
        place = f"{int(middle.x * _CELLS)},{int(middle.y * _CELLS)}"
        state = f"{element.checked:d}{element.enabled:d}{element.selected:d}"
        said = _CLOCK.sub("#", f"{element.label}={element.value}")
        lines.append(f"{element.class_name}|{element.resource_id}|{said}|{place}|{state}")
    if acted_on is not None:
        lines.append(f"on {acted_on.key} {acted_on.label}")
    return _sha256("\n".join(lines))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
