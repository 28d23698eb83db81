"""The operator's own notice command: JSON in, the reply out, bounded, and never through a shell."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.notices import command
from agent.notices.command import CommandSink
from agent.records import Notice, NoticeKind


def notice(token: str = "n-1", **more: object) -> Notice:
    fields: dict[str, object] = {
        "token": token,
        "session_id": "s",
        "kind": NoticeKind.WAITING,
        "title": "Input needed; $(touch x)",
        "text": "Which one?",
        "may_reply": True,
        **more,
    }
    return Notice(**fields)  # type: ignore[arg-type]


def sink(script: str, *arguments: str, timeout_s: float = 20.0) -> CommandSink:
    return CommandSink((sys.executable, "-c", script, *arguments), timeout_s=timeout_s)


async def test_the_command_gets_the_notice_and_its_output_is_the_reply(tmp_path: Path) -> None:
    script = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read()); print('the second')"
    told = tmp_path / "told; rm -rf x"
    assert await sink(script, str(told)).post(notice(options=("A", "B"))) == "the second"
    assert json.loads(told.read_text()) == {
        "token": "n-1",
        "sessionId": "s",
        "kind": "waiting",
        "title": "Input needed; $(touch x)",
        "text": "Which one?",
        "speaker": "product",
        "options": ["A", "B"],
        "mayReply": True,
    }


@pytest.mark.parametrize(
    ("script", "more"),
    [
        ("print('no'); raise SystemExit(3)", {}),
        ("print('x' * 20_000)", {}),
        ("print('done')", {"may_reply": False}),
        ("import sys; sys.stdin.close()", {}),
    ],
)
async def test_what_is_no_reply_is_taken_for_none(script: str, more: dict[str, object]) -> None:
    assert await sink(script).post(notice(**more)) == ""


async def test_a_command_that_is_not_there_is_no_failure_of_the_core() -> None:
    assert await CommandSink(("/nowhere/notify",), timeout_s=5.0).post(notice()) == ""


async def test_a_notice_that_goes_takes_its_command_with_it(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    script = "import sys, time; open(sys.argv[1], 'w').close(); time.sleep(600)"
    shown = sink(script, str(begun), timeout_s=60.0)
    async with asyncio.timeout(30):
        posting = asyncio.create_task(shown.post(notice()))
        while not begun.exists():
            await asyncio.sleep(0.01)
        shown.withdraw(notice())
        assert await posting == ""
    shown.withdraw(notice("n-2"))
    assert await shown.post(notice("n-2")) == ""


async def test_a_notice_that_goes_while_its_command_starts_takes_it_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = sink("import time; time.sleep(600)", timeout_s=60.0)
    start = asyncio.create_subprocess_exec
    begun: list[asyncio.subprocess.Process] = []

    async def starts_late(*words: str, **how: Any) -> asyncio.subprocess.Process:
        begun.append(await start(*words, **how))
        shown.withdraw(notice())
        return begun[0]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", starts_late)
    async with asyncio.timeout(30):
        assert await shown.post(notice()) == ""
    assert begun[0].returncode is not None


async def test_a_command_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_END_S", 0.2)
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    async with asyncio.timeout(30):
        assert await sink(script, timeout_s=0.3).post(notice()) == ""
