"""A fleet on the Deck: hosts with phones, a live session on most of them, settled ones before."""

from collections.abc import Iterator

from msgspec.structs import replace

from agent.protocol import SessionStateChanged
from agent.records import (
    DeviceInfo,
    DeviceState,
    HostInfo,
    HostState,
    Question,
    Session,
    SessionState,
    at_host,
)
from agent.state.view_state import SessionView
from tests.console.fakes import FakeCore, phone

_GOALS = (
    "Turn on Bluetooth",
    "Read the newest message",
    "Set an alarm for 6:45",
    "Find the cheapest train to Porto",
    "Tidy the downloads",
)
_SETTLED = (SessionState.COMPLETED, SessionState.FAILED, SessionState.CANCELLED)
_TREE = 10  # One session in so many has the next as its subtask.


def play_fleet(
    core: FakeCore, *, hosts: int, phones: int, live: int, settled: int, asking: int = 10
) -> None:
    """Put a fleet into a core's picture, at one go.

    Args:
        core: has nothing yet.
        hosts: how many; the last but one is gone, with its phones.
        phones: on each host.
        live: sessions that are under way.
        settled: sessions that have ended.
        asking: how many of the live ones ask.
    """
    names = [f"rack-{number}" for number in range(1, hosts + 1)]
    gone = names[-2] if hosts > 2 else ""
    core.hosts = tuple(
        HostInfo(
            name=name,
            state=HostState.GONE if name == gone else HostState.HERE,
            is_here=name == names[0],
            beat_ms=0.7,
        )
        for name in names
    )
    devices = tuple(_phones(names, phones, gone))
    sessions = tuple(_sessions(devices, live, settled, core.now_ms))
    questions = tuple(
        Question(
            question_id=f"q{number}",
            session_id=one.session_id,
            text="Which Ben is meant?",
            asked_ms=core.now_ms - number,
        )
        for number, one in enumerate(sessions[:asking])
    )
    # Through no fold: an overview of so much is what a console that is opened reads.
    core.state = replace(
        core.state,
        sessions={one.session_id: SessionView(session=one, seq=1) for one in sessions},
        devices={one.serial: one for one in devices},
        questions={one.question_id: one for one in questions},
    )


def move(core: FakeCore, number: int) -> None:
    """Have one live session change: what a fleet does all the time."""
    state = SessionState.RUNNING if number % 2 else SessionState.QUEUED
    core.tell(SessionStateChanged(state=state), f"s{number:05}")


def _phones(names: list[str], each: int, gone: str) -> Iterator[DeviceInfo]:
    for at, name in enumerate(names):
        for number in range(each):
            away = name == gone
            yield phone(
                at_host(name, f"emulator-{5554 + 2 * number}"),
                model=f"Pixel {number % 9}",
                name=f"{name} {number:02}" if number % 5 == 0 else "",
                tags=("lab",) if number % 3 == 0 else (),
                state=DeviceState.GONE if away else DeviceState.ONLINE,
                note=f"Host {name} is gone: what waits for this phone continues when it is back."
                if away
                else "",
                hardware_serial=f"R{at:02}{number:04}",
            )


def _sessions(
    devices: tuple[DeviceInfo, ...], live: int, settled: int, now_ms: int
) -> Iterator[Session]:
    for number in range(live + settled):
        on = devices[number % len(devices)]
        is_live = number < live
        yield Session(
            session_id=f"s{number:05}",
            goal=f"{_GOALS[number % len(_GOALS)]} {number}",
            created_ms=now_ms - 1_000 * number,
            updated_ms=now_ms - 500 * number,
            serial=on.serial,
            host=on.serial.partition("/")[0],
            state=SessionState.RUNNING if is_live else _SETTLED[number % len(_SETTLED)],
            turn_id=f"turn-{number}" if is_live else "",
            tags=("nightly",) if number % 3 == 0 else (),
            parent_id=f"s{number - 1:05}" if number % _TREE == 1 else "",
            steps=number % 30,
        )
