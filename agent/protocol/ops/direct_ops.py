"""Define the op of direct sessions, in which a program makes the calls."""

from typing import ClassVar, TypeAlias

from agent.protocol.base import OpBase
from agent.records import Allows, Right

MAX_DIRECT_WAIT_S = 300.0


class DirectCall(OpBase, frozen=True, kw_only=True, tag="direct_call"):
    """Call a tool in the client's direct session; the reply carries the resulting screen."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.NOTHING
    waits_for_phone: ClassVar[bool] = True

    session_id: str
    tool: str = ""  # Empty: no call, only what is shown now.
    arguments: str = "{}"  # A JSON object, as a model writes it.
    wait_s: float = 50.0  # How long the reply may wait for the screen after the call; at most 300.
    picture: bool = False  # Whether the reply names a picture of the screen.
    withdraw: bool = False  # First take back the call that is under way; what it did stays done.


AnyDirectOp: TypeAlias = DirectCall
