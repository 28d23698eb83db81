"""Take out of an op what would command a terminal, before anything of it is stored.

Whatever reads the core may print what it gets, with no gate of its own. Invariants: no text of an
op that is carried out holds an escape sequence or a control character but newline and tab; letters
stay as they were written.
"""

import re
from typing import Any

import msgspec

from agent.protocol import Op
from agent.text import without_controls

_encoder = msgspec.json.Encoder()
# As JSON writes control characters; also part of what a text may say of them, which costs a look.
_SUSPECT = re.compile(rb"\\u00[01][0-9a-f]|\\[bfr]|\x7f|\xc2[\x80-\x9f]")


def harmless(op: Op) -> Op:
    """Return an op without what would command a terminal; the same one where there is none."""
    try:
        if _SUSPECT.search(_encoder.encode(op)) is None:
            return op
    except UnicodeEncodeError:
        # Half of a surrogate pair, which whoever stores it refuses by name.
        return op
    return msgspec.convert(_cleaned(msgspec.to_builtins(op)), type=type(op))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return without_controls(value)
    if isinstance(value, dict):
        return {_cleaned(name): _cleaned(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(one) for one in value]
    return value
