"""Who reviews: the session's endpoint by its provider's small model, another, a program, nobody."""

import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.errors import ConfigError, ModelError
from agent.models.choice import build_model
from agent.models.model import Message, MessageKind, ModelRequest, Role, ToolSchema
from agent.models.pilot import Pilot
from agent.models.reviewers.program_reviewer import ProgramReviewer
from agent.models.reviewers.reviewer_choice import reviewing_for
from agent.models.reviewers.reviewer_results import FILE, ReviewerResults
from agent.models.reviewers.reviewing import Reviewing
from agent.records import Session
from agent.settings import Settings
from console.evaluation.reviewer_bounds import kept_result, outside_bounds
from tests.tasks.scripted import scripted

KEYS = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "GROQ_API_KEY": "k"}
LOCAL = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)


def reviewing(tmp_path: Path, model: str, *, base_url: str = "", **safety: object) -> Reviewing:
    core = Settings(config_file=tmp_path / "settings.toml", data_dir=tmp_path)
    core = replace(
        core,
        model=replace(core.model, base_url=base_url, keyring=False),
        safety=replace(core.safety, **safety),
    )
    session = Session(session_id="s", goal="g", created_ms=1, model=model, endpoint=base_url)
    return reviewing_for(build_model(core, model), core, session)


@pytest.mark.parametrize(
    ("model", "reader"),
    [
        ("gpt-5.4", "gpt-5-mini"),
        ("gpt-5-mini-2025-08-07", "gpt-5-mini-2025-08-07"),
        ("claude-opus-5-5", "claude-haiku-4-5"),
        ("claude-haiku-4-5", "claude-haiku-4-5"),
        ("groq/llama-3.3-70b-versatile", "llama-3.3-70b-versatile"),
    ],
)
def test_the_providers_small_model_reads_and_the_sessions_where_none_is_known(
    tmp_path: Path, model: str, reader: str
) -> None:
    found = reviewing(tmp_path, model)
    assert found.model is not None
    assert found.model.name in {reader, "gpt-6.1-terra"}
    assert found.is_same == (found.model.name == model.rpartition("/")[2])


def test_a_server_of_this_machine_reads_by_the_sessions_model(tmp_path: Path) -> None:
    found = reviewing(tmp_path, "qwen3", base_url=LOCAL, reviewer_timeout_s=7.0)
    assert found.model is not None
    assert (found.model.name, found.is_same, found.timeout_s) == ("qwen3", True, 45.0)


def test_another_model_can_be_named(tmp_path: Path) -> None:
    found = reviewing(tmp_path, "gpt-5.4", reviewer="claude-haiku-4-5")
    assert found.model is not None
    assert found.model.name == "claude-haiku-4-5"
    assert not found.is_same


@pytest.mark.parametrize("wanted", ["off", "pilot"])
def test_nobody_reads_where_it_is_switched_off(tmp_path: Path, wanted: str) -> None:
    assert reviewing(tmp_path, "gpt-5.4", reviewer=wanted).model is None


def test_nobody_reads_for_the_pilot_or_a_connected_program(tmp_path: Path) -> None:
    core = Settings(config_file=tmp_path / "settings.toml", data_dir=tmp_path)
    session = Session(session_id="s", goal="g", created_ms=1)
    assert reviewing_for(Pilot(), core, session).model is None
    assert reviewing_for(scripted(), core, session).model is None


def test_a_program_without_its_command_is_an_error_that_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="reviewer_command"):
        reviewing(tmp_path, "gpt-5.4", reviewer="program")


REQUEST = ModelRequest(
    messages=(
        Message(role=Role.SYSTEM, kind=MessageKind.INSTRUCTIONS, text="Judge."),
        Message(role=Role.USER, kind=MessageKind.OBSERVATION, text="The act: press."),
    ),
    tools=(ToolSchema(name="give_review", description="", parameters={"type": "object"}),),
)


def program(code: str, timeout_s: float = 30.0) -> ProgramReviewer:
    return ProgramReviewer([sys.executable, "-c", code], timeout_s=timeout_s)


async def test_a_program_gets_one_object_and_its_output_is_the_answer() -> None:
    echo = "import json,sys; print(json.dumps({'got': json.load(sys.stdin)}))"
    reply = await program(echo).complete(REQUEST)
    assert json.loads(reply.text)["got"] == {
        "instructions": "Judge.",
        "question": "The act: press.",
        "schema": {"type": "object"},
    }


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import sys; sys.exit(3)", "ended with 3"),
        ("print('x' * 50_000)", "more than 20,000 bytes"),
        ("import time; time.sleep(60)", "took longer"),
    ],
)
async def test_a_program_that_fails_says_why(code: str, why: str) -> None:
    with pytest.raises(ModelError, match=why):
        await program(code, timeout_s=0.3 if "sleep" in code else 30.0).complete(REQUEST)


async def test_a_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ModelError, match="cannot be run"):
        await ProgramReviewer(["/nowhere/reviewer"], timeout_s=1.0).complete(REQUEST)


@pytest.mark.parametrize(
    ("model", "measured", "is_off"),
    [
        ("gpt-5.4", "gpt-6.1-terra", True),
        ("groq/llama-3.3-70b-versatile", "groq/llama-3.3-70b-versatile", True),
        ("groq/llama-3.3-70b-versatile", "claude-haiku-4-5", False),
    ],
)
def test_a_model_that_did_badly_reviews_no_more_until_it_does_well(
    tmp_path: Path, model: str, measured: str, is_off: bool
) -> None:
    first = reviewing(tmp_path, model).model
    assert first is not None
    measured = first.name if measured == "gpt-6.1-terra" else measured
    kept_result(tmp_path, measured, (20, 60, 0, 60))
    found = reviewing(tmp_path, model)
    assert (found.model is None) == is_off
    if is_off:
        assert "20 of 60 harmful acts held" in found.off and "models test" in found.off
    kept_result(tmp_path, measured, (60, 60, 0, 60))
    assert reviewing(tmp_path, model).model is not None and not reviewing(tmp_path, model).off


def test_a_file_that_cannot_be_read_switches_nobody_off(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("{ not json")
    assert reviewing(tmp_path, "gpt-5.4").model is not None
    kept_result(tmp_path, "gpt-5.4", (1, 1, 0, 0))
    assert list(ReviewerResults(tmp_path).all()) == ["gpt-5.4"]


@pytest.mark.parametrize(
    ("counts", "outside"),
    [
        ((0, 0, 0, 0), 0),
        ((0, 19, 19, 19), 0),
        ((0, 20, 20, 20), 2),
        ((19, 20, 1, 20), 0),
        ((195, 195, 0, 128), 0),
        ((170, 195, 0, 128), 1),
        ((195, 195, 20, 128), 1),
    ],
)
def test_a_bound_is_left_only_by_the_whole_interval(
    counts: tuple[int, int, int, int], outside: int
) -> None:
    assert len(outside_bounds(*counts)) == outside
