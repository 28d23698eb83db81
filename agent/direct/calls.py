"""Take a phone, call tools on it and release it, for every program that is a client of the core.

What MCP clients and shell verbs have in common. Invariant: nothing here judges or acts; the session
does, as it does for a model.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from agent.core import Core
from agent.protocol import DirectCall, SessionCreate
from agent.records import DirectStatus, DirectView

SHELL = "shell"  # The program of the shell's verbs.
FINISH = "finish"  # The tool that ends the work on a phone.
_SLICE_S = 1.0

OnWait = Callable[[float, str], Awaitable[None]]


async def take(
    core: Core, purpose: str, serial: str, program: str, *, one_act: bool = False
) -> str:
    """Create a direct session; returns its id. Raises what the core refuses.

    Args:
        serial: the phone; empty: the only one.
        program: who calls, for people.
        one_act: the purpose is one act that somebody typed, and no goal.
    """
    op = direct_session(purpose, serial, program, one_act=one_act)
    return (await core.request(op)).session_id


def direct_session(
    purpose: str, serial: str, program: str, *, one_act: bool = False
) -> SessionCreate:
    """Return the op that creates a direct session; see `take`."""
    return SessionCreate(goal=purpose, serial=serial, direct=True, model=program, one_act=one_act)


async def call(
    core: Core,
    session_id: str,
    tool: str = "",
    arguments: Mapping[str, Any] | None = None,
    *,
    patience_s: float,
    on_wait: OnWait,
    picture: bool = False,
) -> DirectView:
    """Call a tool and wait for what came of it, in slices: somebody may be asked meanwhile.

    Args:
        tool: empty: only wait until the session is ready.
        on_wait: is told after each slice how long it has been, and why.

    Raises:
        SwitchboardError: the core refuses the call.
    """
    waited_s = 0.0
    written = json.dumps(dict(arguments or {}))
    while True:
        op = DirectCall(
            session_id=session_id,
            tool=tool,
            arguments=written,
            wait_s=min(_SLICE_S, patience_s),
            picture=picture,
        )
        view = (await core.request(op)).direct
        assert view is not None, "the reply to a call has its view"
        tool = ""
        if view.status is not DirectStatus.WAITING or waited_s >= patience_s:
            return view
        waited_s += _SLICE_S
        await on_wait(waited_s, view.text)


def release_arguments(success: bool, summary: str) -> tuple[str, dict[str, Any]]:
    """Return the call that ends the work on a phone."""
    return FINISH, {"success": success, "summary": summary}
