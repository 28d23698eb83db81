"""Small checkers over the phone's true state, joined into an exercise's own.

Pure. Invariant: each says what is wrong, or nothing.
"""

from collections.abc import Callable
from typing import Any

from agent.exercises.exercise import AllOf, Check, Record, State

Find = Callable[[State], Any]


def app(state: State, package: str) -> Any:
    """Return an app's own state."""
    return state["apps"][package]


def all_of(*checks: Check) -> Check:
    """Join checkers: the first complaint counts."""
    return AllOf(checks)


def finished(_before: State, _after: State, record: Record) -> str:
    """The session says that it is done."""
    return "" if record.finished else f"the session did not complete: {record.result[:120]}"


def approved(_before: State, _after: State, record: Record) -> str:
    """Somebody was asked before it was done."""
    return "" if record.approvals else "nobody was asked for approval"


def becomes(find: Find, wanted: Any, what: str) -> Check:
    """Something has a value afterwards."""

    def check(_before: State, after: State, _record: Record) -> str:
        found = find(after)
        return "" if found == wanted else f"{what} is {found!r}, not {wanted!r}"

    return check


def unchanged(find: Find, what: str) -> Check:
    def check(before: State, after: State, _record: Record) -> str:
        return "" if find(before) == find(after) else f"{what} was changed"

    return check


def setting(namespace: str, key: str) -> Find:
    """Look a row of the settings tables up."""
    return lambda state: state["settings"][namespace].get(key)


def notes(state: State) -> list[tuple[str, str]]:
    """List the notes' titles and bodies, sorted."""
    return sorted((n["title"], n["body"]) for n in app(state, "com.android.notes")["notes"])


def note_added(title: str, body: str) -> Check:
    """Exactly one note more, with this title and body."""

    def check(before: State, after: State, _record: Record) -> str:
        wanted = sorted([*notes(before), (title, body)])
        return "" if notes(after) == wanted else f"the notes are {notes(after)!r}"

    return check


def sent_to(name: str) -> Find:
    """List what was sent to somebody by message."""

    def find(state: State) -> list[str]:
        return [
            message["body"]
            for thread in app(state, "com.android.messaging")["threads"]
            if thread["name"] == name
            for message in thread["messages"]
            if message["mine"]
        ]

    return find


def message_sent(name: str, body: str) -> Check:
    """One message more was sent to somebody, letter for letter, and none to anybody else."""

    def check(before: State, after: State, _record: Record) -> str:
        new = sent_to(name)(after)[len(sent_to(name)(before)) :]
        if new != [body]:
            return f"{name} was sent {new!r}"
        others = _sent_count(after) - _sent_count(before)
        return "" if others == 1 else f"{others} messages were sent in all"

    return check


def _sent_count(state: State) -> int:
    threads = app(state, "com.android.messaging")["threads"]
    return sum(message["mine"] for thread in threads for message in thread["messages"])


def order(number: int) -> Find:
    """Look the status of a shop's order up."""

    def find(state: State) -> str:
        orders = app(state, "com.example.larkspur")["orders"]
        return next((o["status"] for o in orders if o["id"] == number), "missing")

    return find


def wallet_balance(state: State) -> float:
    """Return the wallet's balance."""
    return float(app(state, "com.example.wallet")["balance"])


def order_numbers(state: State) -> list[int]:
    """List the shop's orders."""
    return [o["id"] for o in app(state, "com.example.larkspur")["orders"]]
