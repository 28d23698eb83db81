"""Say at which host of a fleet a session or a phone is, where there is more than one; pure."""

from collections.abc import Iterable, Mapping

from agent.records import DeviceInfo, DeviceState, HostInfo, HostState, Session, host_of
from agent.state.memoize import memoize_last
from agent.state.reducer import SessionView, State
from agent.text import one_line
from widgets.base.rows import Parts


def session_host(session: Session) -> str:
    """Return the host that a session belongs to, else that of its phone; empty for none."""
    return session.host or host_of(session.serial)


def has_several_hosts(state: State) -> bool:
    """Return whether sessions or phones of more than one host are known."""
    return _has_several(state.devices, state.sessions)


@memoize_last
def _has_several(devices: Mapping[str, DeviceInfo], sessions: Mapping[str, SessionView]) -> bool:
    return _are_at_several(devices) or _are_several(
        session_host(view.session) for view in sessions.values()
    )


@memoize_last
def _are_at_several(devices: Mapping[str, DeviceInfo]) -> bool:
    return _are_several(host_of(serial) for serial in devices)


def host_beside(serial: str, devices: Mapping[str, DeviceInfo], name: str) -> str:
    """Return the host to show beside a phone's name; empty where one host has all the phones, or
    where the name says it.
    """
    host = one_line(host_of(serial), 24)
    if not host or name.endswith(host) or name.startswith(f"{host}/"):
        return ""
    return host if _are_at_several(devices) else ""


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


def is_stranded(session: Session, devices: Mapping[str, DeviceInfo]) -> bool:
    """Return whether the phone of a session is gone with its host: nothing moves the session on."""
    device = devices.get(session.serial)
    return device is not None and host_away(device) != ""


def latency(took_ms: float) -> str:
    """Return how long an answer took, as "0.4 ms", "12 ms" or "1.2 s"."""
    if took_ms < 9.95:
        return f"{took_ms:.1f} ms"
    return f"{took_ms:.0f} ms" if took_ms < 999.5 else f"{took_ms / 1000:.1f} s"


def host_latency(host: HostInfo) -> str:
    """Return how fast another host answers, as "rack-3 answers in 12 ms"; else how fast the
    database answers it; empty where neither is known, or it is not there.
    """
    said = _latency_words(host)
    return f"{one_line(host.name, 24)} {said}" if said else ""


def host_words(host: HostInfo | None) -> Parts:
    """Return how a host is, for the heading of what is there: that it is gone or drains, else how
    fast it answers; nothing where nothing is known of it.
    """
    if host is None:
        return ()
    match host.state:
        case HostState.GONE:
            return (("○ gone", "$bad"),)
        case HostState.LEFT:
            return (("○ has left", "$faint"),)
        case HostState.HERE:
            words = _latency_words(host)
            drains: Parts = (("‖ draining  ", "$warn"),) if host.draining else ()
            return (*drains, (words, "$faint")) if words else drains


def _latency_words(host: HostInfo) -> str:
    if host.state is not HostState.HERE:
        return ""
    if host.reply_ms is not None:
        return f"answers in {latency(host.reply_ms)}"
    return f"reaches the database in {latency(host.beat_ms)}" if host.beat_ms is not None else ""


def _are_several(hosts: Iterable[str]) -> bool:
    first = ""
    for host in hosts:
        if host and first and host != first:
            return True
        first = first or host
    return False
