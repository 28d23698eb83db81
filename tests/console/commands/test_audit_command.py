"""`switchboard audit verify`: what it says of a chain and a store that somebody changed."""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.audit.audit_writer import DIRECTORY, audited
from agent.audit.hash_chain import files_of
from agent.knowledge.navigation_map import PROOFS, NavigationMap
from agent.protocol import SessionConfigured, TaskStarted, ToolCallRequested
from agent.records import Session
from agent.safety.navigation.press_key import Navigated, PressKey
from agent.store.changes.event_ledger import EventDraft
from agent.store.embedded.sqlite_store import SqliteStore
from console.cli import cli
from console.cli_support.exits import run_command

CALL = ToolCallRequested(step=1, call_id="c", tool="click_element", arguments="{}")


async def work(directory: Path, *sessions: str) -> None:
    """Store what a few sessions did, and audit it."""
    async with SqliteStore.open(directory) as store, audited(store, directory):
        for name in sessions:
            session = Session(session_id=name, goal="do it", created_ms=1)
            for msg in (SessionConfigured(session=session), TaskStarted(turn_id=name), CALL):
                await store.append(EventDraft(name, msg))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    asyncio.run(work(tmp_path, "first", "second"))
    return tmp_path


Shell = Callable[..., tuple[int, str]]


@pytest.fixture
def audit(data: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    """Run `switchboard audit`; returns its exit code and what it prints."""

    def run(*words: str, of: Path = data) -> tuple[int, str]:
        capsys.readouterr()
        code = run_command(cli, ["--data-dir", str(of), "audit", *words])
        return int(code), capsys.readouterr().out

    return run


def verified(audit: Shell, **more: Path) -> tuple[int, dict[str, Any]]:
    code, said = audit("verify", "--json", **more)
    return code, json.loads(said)


def lines(data: Path, change: Callable[[list[str]], list[str]]) -> None:
    path = files_of(data / DIRECTORY)[-1]
    path.write_text("".join(change(path.read_text().splitlines(keepends=True))))


def with_field(name: str, value: object) -> Callable[[list[str]], list[str]]:
    def change(old: list[str]) -> list[str]:
        line = json.loads(old[2]) | {name: value}
        return [*old[:2], json.dumps(line) + "\n", *old[3:]]

    return change


def test_an_honest_record_is_whole_and_its_head_proves_it_later(data: Path, audit: Shell) -> None:
    code, said = audit("verify")
    assert code == 0
    assert said.startswith("ok    7 lines, head 7:")
    head = said.split("head ")[1].strip()
    asyncio.run(work(data, "third"))
    assert audit("verify", "--expect", head)[0] == 0


@pytest.mark.parametrize("seq", ["", "x", "-1", "²", "9" * 5000])
def test_a_head_that_is_none_is_refused_as_such(audit: Shell, seq: str) -> None:
    assert audit("verify", "--expect", f"{seq}:{'0' * 64}") == (2, "")


@pytest.mark.parametrize(
    ("change", "flaw"),
    [
        (lambda old: old[:-1], "truncated"),
        (lambda old: old[:3], "truncated"),
        (lambda old: [old[0], old[2], old[1], *old[3:]], "seq_gap"),
        (lambda old: [*old[:2], *old[3:]], "seq_gap"),
        (with_field("detail", "harmless"), "hash_mismatch"),
        (with_field("detail", "\ud800"), "hash_mismatch"),
        (with_field("session_id", ["x"]), "hash_mismatch"),
        (with_field("event_type", "sessions_deleted"), "hash_mismatch"),
        (with_field("seq", 10**30), "seq_gap"),
        (with_field("timestamp_wall_ms", 10**30), "hash_mismatch"),
        (lambda old: [*old[:2], "[]\n", *old[2:]], "malformed"),
        (lambda old: [*old[:2], "\x1b[2Jnot json\n", *old[2:]], "malformed"),
    ],
    ids=[
        *("truncated", "cut short", "reordered", "deleted", "edited", "edited to no text"),
        *("a list for an id", "another kind", "a huge number", "a huge time", "no object"),
        "no JSON",
    ],
)
def test_a_chain_that_was_changed_is_told_by_the_flaws_name(
    data: Path, audit: Shell, change: Callable[[list[str]], list[str]], flaw: str
) -> None:
    lines(data, change)
    code, said = verified(audit)
    assert (code, said["ok"]) == (1, False)
    assert flaw in {found["flaw"] for found in said["findings"]}
    code, text = audit("show")
    assert code == 0
    assert "\x1b" not in text


def test_stored_events_that_were_edited_or_taken_away_are_named(data: Path, audit: Shell) -> None:
    with sqlite3.connect(data / "switchboard.db") as database:
        [(edited,)] = database.execute(
            "SELECT id FROM event WHERE session_id = 'first' ORDER BY id LIMIT 1"
        )
        [(gone,)] = database.execute(
            # Not the newest: a store that lost its end is refused before anybody reads it.
            "SELECT id FROM event WHERE session_id = 'second' ORDER BY id DESC LIMIT 1 OFFSET 1"
        )
        database.execute(
            "UPDATE event SET body = replace(body, 'do it', 'do no') WHERE id = ?", (edited,)
        )
        database.execute("DELETE FROM event WHERE id = ?", (gone,))
    database.close()
    code, said = verified(audit)
    assert code == 1
    assert {(f["flaw"], f["where"], f["detail"]) for f in said["findings"]} == {
        ("event_changed", f"event {edited}", "first"),
        ("event_gone", f"event {gone}", "second"),
    }


def test_a_session_that_was_deleted_openly_is_a_note_and_one_that_just_went_is_a_flaw(
    data: Path, audit: Shell
) -> None:
    async def delete(name: str, *, openly: bool) -> None:
        async with SqliteStore.open(data) as store:
            if not openly:
                await store.delete_sessions(name)
                return
            async with audited(store, data):
                await store.delete_sessions(name)

    asyncio.run(delete("first", openly=True))
    code, said = audit("verify")
    assert code == 0
    assert "gone: 3 events that it names, with sessions whose deletion it records" in said
    asyncio.run(delete("second", openly=False))
    code, said = audit("verify")
    assert code == 1
    assert said.count("event_gone: second") == 3


def test_a_chain_that_is_gone_is_missed_and_one_that_began_anew_says_so(
    data: Path, audit: Shell
) -> None:
    shutil.rmtree(data / DIRECTORY)
    code, said = verified(audit)
    assert code == 1
    assert [found["flaw"] for found in said["findings"]] == ["chain_missing"]
    asyncio.run(work(data, "third"))
    code, text = audit("verify")
    assert code == 0
    assert "the audit began after event 6: it does not cover what was stored before" in text


def test_where_nothing_was_ever_stored_there_is_nothing_to_miss(
    tmp_path: Path, audit: Shell
) -> None:
    async def nothing() -> None:
        async with SqliteStore.open(tmp_path / "new"):
            pass

    asyncio.run(nothing())
    code, said = verified(audit, of=tmp_path / "new")
    assert (code, said["ok"], said["lines"]) == (0, True, 0)


def test_what_is_known_to_navigate_is_counted_by_app_and_forgotten(
    data: Path, audit: Shell
) -> None:
    key = PressKey(package="com.home.app", version=7, digest="0" * 64)
    kept = NavigationMap(data, lambda: 1_700_000_000_000)
    assert audit("navigation") == (0, "No press is known yet.\n")
    for _ in range(PROOFS):
        asyncio.run(kept.learn([Navigated(key=key, only=True)]))
    code, said = audit("navigation")
    assert code == 0
    assert said.splitlines()[1].split() == ["com.home.app", "7", "1", "0", "0"]
    assert audit("navigation", "--forget", "com.home.app")[1] == "Forgot 1 press of com.home.app.\n"
    assert audit("navigation") == (0, "No press is known yet.\n")
