"""Say at which host of a fleet a session or a phone is, where there is more than one; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent.records import DeviceInfo, DeviceState, HostInfo, HostState, Session, host_of
from agent.state.reducer import State
from agent.text import one_line


def session_host(session: Session) -> str:
    """Return the host that a session belongs to, else that of its phone; empty for none."""
    return session.host or host_of(session.serial)


def has_several_hosts(state: State) -> bool:
    """Return whether sessions or phones of more than one host are known."""
    return _are_several(host_of(serial) for serial in state.devices) or _are_several(
        session_host(view.session) for view in state.sessions.values()
    )


def host_beside(serial: str, devices: Mapping[str, DeviceInfo], name: str) -> str:
    """Return the host to show beside a phone's name; empty where one host has all the phones, or
    where the name says it.
    """
    host = one_line(host_of(serial), 24)
    if not host or name.endswith(host) or name.startswith(f"{host}/"):
        return ""
    return host if _are_several(host_of(one) for one in devices) else ""


def host_away(device: DeviceInfo) -> str:
    """Return what became of the host of a phone that is gone with it, as "host rack-3 is gone";
    empty for any other phone.
    """
    host = host_of(device.serial)
    if device.state is not DeviceState.GONE or not host:
        return ""
    # The core's note goes on with what that means for sessions.
    said = device.note.partition(":")[0]
    return one_line(f"host{said[4:]}", 60) if said.startswith(f"Host {host} ") else ""


def latency(took_ms: float) -> str:
    """Return how long an answer took, as "0.4 ms", "12 ms" or "1.2 s"."""
    if took_ms < 9.95:
        return f"{took_ms:.1f} ms"
    return f"{took_ms:.0f} ms" if took_ms < 999.5 else f"{took_ms / 1000:.1f} s"


def host_latency(host: HostInfo) -> str:
    """Return how fast another host answers, as "rack-3 answers in 12 ms"; else how fast the
    database answers it; empty where neither is known, or it is not there.
    """
    name = one_line(host.name, 24)
    if host.state is not HostState.HERE:
        return ""
    if host.reply_ms is not None:
        return f"{name} answers in {latency(host.reply_ms)}"
    if host.beat_ms is not None:
        return f"{name} reaches the database in {latency(host.beat_ms)}"
    return ""


def _are_several(hosts: Iterable[str]) -> bool:
    first = ""
    for host in hosts:
        if host and first and host != first:
            return True
        first = first or host
    return False
