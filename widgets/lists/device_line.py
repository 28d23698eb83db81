"""A list of phones in a few lines: what it says, not where it stands; pure."""

from agent.state.reducer import State
from agent.text import one_line
from widgets.base.rows import Parts
from widgets.lists.session_rows import device_rows

ALL = "*"  # What is pressed for the phones that there is no room for.
_MOST = 6  # How many phones are named where there is little room.
_LEAST = 3  # How many are named beside a list of sessions that is longer than its pane.


def device_parts(
    state: State, width: int, when_empty: str, *, height: int = 0, crowded: bool = False
) -> tuple[Parts, dict[int, str]]:
    """Return the text of the list, each part with its style, and the phone of each part of it.

    Args:
        state: what is known of the phones and of the adb servers.
        width: columns of a line.
        when_empty: what is said where there is no phone.
        height: rows of the screen; a quarter of them may name phones.
        crowded: whether the sessions need the room more.
    """
    from widgets.pictures.phone_pane import spread

    count = len(state.devices)
    parts: list[tuple[str, str]] = []
    for address, why in state.servers_away.items():
        # Beside devices there is room for the name only.
        more = "switchboard doctor says why" if count else one_line(why, 300)
        parts += [(f"▲ adb at {address} is away\n", "$warn"), (f"{more}\n", "$muted")]
    most = _LEAST if crowded else max(_MOST, height // 4)
    # A line that says that there is one more could as well name it.
    most += count == most + 1
    phones: dict[int, str] = {}
    for row in device_rows(state, most):
        before = len(parts)
        parts += [*spread(row.lines[0].left, row.lines[0].right, width), ("\n", "")]
        phones |= dict.fromkeys(range(before, len(parts) - 1), row.key)
    if count > most:
        phones[len(parts)] = ALL
        parts.append((f"and {count - most} more on the Wall", "$faint"))
    if not count:
        parts.append((when_empty, "$muted"))
    has_end = parts[-1][0] == "\n"
    return tuple(parts[:-1] if has_end else parts), phones
