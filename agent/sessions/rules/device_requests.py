"""What phone a session's next turn wants, from its record; pure.

Invariant: what a session has begun on a phone it goes on with there, whatever it needed at first.
"""

from agent.placement.needs import Needs, parse_needs
from agent.records import Session
from agent.sessions.registry.device_assignment import DeviceRequest


def device_request_of(session: Session, others: Needs | None = None) -> DeviceRequest:
    """Return what the next turn of a session wants.

    Args:
        session: its record.
        others: what phones will do beside its own; None: no other one, once it has one.
    """
    if session.serial and others is None:
        return DeviceRequest(session.session_id, session.account, serial=session.serial)
    needs = parse_needs(session.needs) if others is None else others
    return DeviceRequest(session.session_id, session.account, first=session.serial, needs=needs)
