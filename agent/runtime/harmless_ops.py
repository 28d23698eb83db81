"""Take out of an op what would command a terminal, before anything of it is stored.

Whatever reads the core may print what it gets, with no gate of its own. Invariants: no text of an
op that is carried out holds an escape sequence or a control character but newline and tab; letters
stay as they were written.
"""

import re
from typing import Any

import msgspec

from agent.errors import UsageError
from agent.protocol import Op
from agent.text import without_controls

_encoder = msgspec.json.Encoder()
# As JSON writes control characters; also part of what a text may say of them, which costs a look.
_SUSPECT = re.compile(rb"\\u00[01][0-9a-f]|\\[bfr]|\x7f|\xc2[\x80-\x9f]")


def harmless(op: Op) -> Op:
    """Return an op without what would command a terminal; the same one where there is none.

    Raises UsageError for a text that is nothing else: it would count as left out.
    """
    try:
        if _SUSPECT.search(_encoder.encode(op)) is None:
            return op
    except UnicodeEncodeError:
        # Half of a surrogate pair, which whoever stores it refuses by name.
        return op
    return msgspec.convert(_cleaned(msgspec.to_builtins(op), ""), type=type(op))


def _cleaned(value: Any, field: str) -> Any:
    if isinstance(value, str):
        left = without_controls(value)
        if value.strip() and not left.strip():
            raise UsageError(f"`{field}` is only control characters.", "Write some text.")
        return left
    if isinstance(value, dict):
        named = ((without_controls(name), one) for name, one in value.items())
        return {name: _cleaned(one, name) for name, one in named}
    if isinstance(value, list | tuple):
        return [_cleaned(one, field) for one in value]
    return value
