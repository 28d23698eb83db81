"""Which input methods a phone has, which are enabled and which one is chosen.

Formats: `ime list -s` prints an id a line (InputMethodManagerService; for several users a line
`User #10:` before each one's), without `-s` a line `ID:` and more below it. The chosen one stands
in the secure setting, and in `dumpsys input_method` as `mCurMethodId=` up to Android 15 and as
`mSelectedMethodId=` since 16. Invariant: a list that a command failed to print is unknown.
"""

import re

from agent.devices.facts.dump_text import lines_of
from agent.devices.facts.fact import Fact, Unknown, first_known, known
from agent.records.record import Record

_MARK = "switchboard-input-method"
INPUT_METHODS = (
    "settings get secure default_input_method 2>&1; "
    f"echo '@{_MARK} enabled'; ime list -s 2>&1; "
    f"echo '@{_MARK} installed'; ime list -a -s 2>&1; "
    f"echo '@{_MARK} dump'; dumpsys input_method 2>&1 | grep -E 'mCurMethodId=|mSelectedMethodId='"
)
NONE_CHOSEN = ""
_PARTS = ("enabled", "installed", "dump")
_CUT_OFF = Unknown(reason="its answer was cut off")
_ID = re.compile(r"([A-Za-z]\w*(?:\.\w+)*/[\w.$]{1,200}(?:;[\w.=;]{0,200})?):?", re.ASCII)
"""A component, and behind a semicolon what some makers keep of a subtype."""
_BROKEN_ID = re.compile(r"\s*[A-Za-z]\w*(?:\.\w+)+/\S", re.ASCII)
"""An id that another program's words broke into."""
_USER = re.compile(r"User #(\d{1,6}):")
_IN_DUMP = re.compile(r"\bm(?:CurMethodId|SelectedMethodId)=(\S+)")
_LINES = 2000


class InputMethods(Record, frozen=True, kw_only=True):
    """The input methods of a phone's current user, by their ids."""

    installed: Fact[tuple[str, ...]]
    enabled: Fact[tuple[str, ...]]
    chosen: Fact[str]
    """Empty: the phone says that none is."""


def read_input_methods(text: str) -> InputMethods:
    """Read what INPUT_METHODS printed."""
    parts = re.split(rf"(?m)^@{_MARK} (\w+)\r*$", text)
    if not set(_PARTS) <= set(parts[1::2]):
        # What was cut off may be a part of a name, or of a list.
        return InputMethods(installed=_CUT_OFF, enabled=_CUT_OFF, chosen=_CUT_OFF)
    said = dict(zip(parts[1::2], parts[2::2], strict=True))
    return InputMethods(
        installed=read_method_ids(said.get("installed", "")),
        enabled=read_method_ids(said.get("enabled", "")),
        chosen=first_known(read_chosen(parts[0]), _chosen_in_dump(said.get("dump", ""))),
    )


def read_method_ids(text: str, user: int | None = None) -> Fact[tuple[str, ...]]:
    """Read a listing of input methods, of one user where it lists those of several."""
    ids: list[str] = []
    lines = [line for line in lines_of(text)[:_LINES] if line.strip()]
    of_user: int | None = None
    for line in lines:
        if heading := _USER.fullmatch(line.strip()):
            of_user = int(heading[1])
            user = of_user if user is None else user
        elif found := _ID.fullmatch(line.rstrip()):
            ids += [found[1]] if of_user in (None, user) else []
        elif _BROKEN_ID.match(line):
            return Unknown(reason=f"`ime list` printed a broken line: {line.strip()[:200]}")
    if not ids:
        said = lines[0].strip()[:200] if lines else "nothing"
        return Unknown(reason=f"`ime list` answered: {said}")
    return known(tuple(dict.fromkeys(ids)), ids[0])


def read_chosen(text: str) -> Fact[str]:
    """Read the setting `default_input_method`; `null` is what it says where none is chosen."""
    lines = [line.strip() for line in lines_of(text)[:_LINES] if line.strip()]
    for line in lines:
        if _ID.fullmatch(line) and not line.endswith(":"):
            return known(line, line)
    if "null" in lines:
        return known(NONE_CHOSEN, "null")
    return Unknown(reason=f"`settings get` answered: {lines[0][:200] if lines else 'nothing'}")


def _chosen_in_dump(text: str) -> Fact[str]:
    for line in lines_of(text)[:_LINES]:
        if found := _IN_DUMP.search(line):
            return known(NONE_CHOSEN if found[1] == "null" else found[1], line)
    return Unknown(reason="dumpsys input_method names none")
