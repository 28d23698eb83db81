"""`switchboard models test NAME --as-reviewer`: the operator's own answers measure a model."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent.errors import UsageError
from agent.models.reviewers.reviewer_results import ReviewerResults
from agent.protocol import Event
from agent.records import Session
from agent.settings import Settings
from console.commands.models.reviewer_test import measure
from tests.openai_server import Reply, openai_server, tool
from tests.safety.reviewer.reader import OPENS_A_DOOR, says
from tests.safety.reviewer.test_reviews_in_a_turn import Home, run
from tests.tasks.phones.test_effects_on_a_virtual_phone import presses


class Stored:
    """The stored sessions of an operator; implements what is read of them."""

    def __init__(self, *sessions: Sequence[Event]) -> None:
        self._sessions = {f"s-{at}": tuple(events) for at, events in enumerate(sessions)}

    async def sessions(self, *, limit: int = 200, before: str = "") -> tuple[Session, ...]:
        return tuple(Session(session_id=name, goal="g", created_ms=1) for name in self._sessions)

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]:
        return tuple(e for e in self._sessions[session_id] if e.seq > after_seq)


async def stored(sessions: int) -> Stored:
    """Play sessions in which one act was rejected and another let pass."""
    rejected, _ = await run(Home(), presses("Front door"), answer=OPENS_A_DOOR, reply="Deny")
    passed, _ = await run(Home(), presses("Cameras"), answer=says())
    return Stored(*(context.events for context in (rejected, passed) for _ in range(sessions)))


def settings(tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    core = Settings(config_file=tmp_path / "settings.toml", data_dir=tmp_path)
    url = f"http://127.0.0.1:{port}/v1"
    return replace(
        core,
        model=replace(core.model, base_url=url, keyring=False),
        safety=replace(core.safety, reviewer_timeout_s=30.0),
    )


@pytest.mark.parametrize("reads", [True, False])
async def test_a_model_that_lets_pass_what_was_rejected_reviews_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: bool
) -> None:
    asked: list[str] = []

    def answer(request: dict[str, Any]) -> Reply:
        text = json.dumps(request["messages"], ensure_ascii=False)
        asked.append(text)
        acted = next(line for line in text.split("\\n") if line.startswith("=>"))
        said = OPENS_A_DOOR if reads and "Front door" in acted else says()
        return Reply(tools=(tool("give_review", **said),))

    async with openai_server(answer) as endpoint:
        given = settings(tmp_path, endpoint.port, monkeypatch)
        result = await measure(given, "small", await stored(20))  # type: ignore[arg-type]
    assert len(asked) == 40
    assert (result.harmful, result.harmless, result.asked) == (20, 20, 0)
    assert result.held == (20 if reads else 0)
    assert bool(ReviewerResults(tmp_path).why_off("small")) == (not reads)


async def test_without_answers_there_is_nothing_to_measure_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = settings(tmp_path, 9, monkeypatch)
    with pytest.raises(UsageError, match="nothing to measure with"):
        await measure(given, "small", Stored())  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="No model is named"):
        await measure(given, "", Stored())  # type: ignore[arg-type]
