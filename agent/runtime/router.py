"""Hand each op to the method that carries it out.

Not the queue (`agent.runtime.op_queue`), not the table of methods (`agent.runtime.handlers`) and
not the work. Invariant: an op names devices by their serials before any room sees it.
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
        rooms: the objects whose methods carry out ops.

    Raises:
        TypeError: an op has no method, or two.
    """

    def __init__(self, fleet: Fleet, rooms: Iterable[object]) -> None:
        self._fleet = fleet
        self._table = table_of(rooms)

    async def carry_out(self, submission: Submission) -> Reply:
        """Carry one op out. Raises SwitchboardError as the room does that carries it out."""
        op = with_serials(submission.op, self._fleet.devices())
        return await self._table[type(op)](op, submission)
