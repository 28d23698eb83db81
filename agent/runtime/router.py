"""Hand each op to the method that executes it, by the table of `agent.runtime.handlers.table`.

Invariant: an op names devices by their serials before any room sees it.
"""

from collections.abc import Iterable

from agent.devices.fleet.naming import with_serials
from agent.devices.protocols import Fleet
from agent.protocol import Reply
from agent.runtime.handlers.table import table_of
from agent.runtime.op_queue import Submission


class Router:
    """The table of one core.

    Args:
        fleet: the devices that an op may name.
        rooms: the objects whose methods execute ops.

    Raises:
        TypeError: an op has no method, or two.
    """

    def __init__(self, fleet: Fleet, rooms: Iterable[object]) -> None:
        self._fleet = fleet
        self._table = table_of(rooms)

    async def carry_out(self, submission: Submission) -> Reply:
        """Execute one op. Raises the SwitchboardError of the room that executes it."""
        op = with_serials(submission.op, self._fleet.devices())
        return await self._table[type(op)](op, submission)
