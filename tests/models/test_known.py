"""What is known of a model is told with how it is known, and what nobody said is unknown."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.endpoint import Endpoint, endpoint_for
from agent.models.traits.known import known_of
from agent.models.traits.notes import EndpointNotes
from agent.models.wires.offers import Offer, offers_in
from agent.models.wires.server_facts import facts_in, page_of
from agent.models.wires.traits import Source, Trait
from agent.settings import ModelSettings
from tests.end_to_end import warm
from tests.models.asking import reply_with_status
from tests.models.llamacpp import MODEL, Body, llamacpp_server, props
from tests.openai_server import OpenAIServer, Reply, openai_server, tool

PATIENCE_S = 60
CALL = {"tool": "wait", "arguments": {"seconds": 0}}


def obedient(body: Body) -> object:
    return CALL if "response_format" in body else "Well, well. " * 100


async def models(home: Path, *args: str, **environ: str) -> tuple[int, str]:
    kept = {k: v for k, v in os.environ.items() if not k.endswith(("_API_KEY", "_BASE_URL"))}
    environment = {**kept, "SWITCHBOARD_DATA_DIR": str(home), **environ}
    done = await asyncio.to_thread(warm.call, ["models", *args], environment, bound_s=PATIENCE_S)
    return done.returncode, done.stdout + done.stderr


def configured(home: Path, server: OpenAIServer, model: str, **more: object) -> None:
    settings = {"name": model, "base_url": server.base_url, **more}
    lines = (f"{name} = {json.dumps(value)}" for name, value in settings.items())
    (home / "config.toml").write_text("[model]\n" + "\n".join(lines) + "\n")


async def shown(home: Path, *args: str) -> dict[str, Any]:
    status, said = await models(home, "show", *args, "--json")
    assert status == 0, said
    answer: dict[str, Any] = json.loads(said)
    return answer


def row(said: dict[str, Any], name: str) -> tuple[Any, str]:
    known = said["known"][name]
    return known["value"], known["how"]


async def test_a_server_is_asked_and_what_a_test_showed_is_kept(tmp_path: Path) -> None:
    async with llamacpp_server(obedient) as server:
        configured(tmp_path, server, MODEL)
        said = await shown(tmp_path)
        assert not server.requests, "nothing is tried to show what is known"
        assert row(said, "window") == (4096, "asked by /props")
        assert row(said, "tools") == (False, "asked by /props")
        assert row(said, "vision") == (False, "asked by /props")
        assert row(said, "JSON schema") == (True, "asked by /props")
        assert row(said, "streaming") == (None, "never tried")
        assert said["calls"] == "JSON schema"
        status, _ = await models(tmp_path, "test")
        assert status == 0
        value, how = row(await shown(tmp_path), "streaming")
        assert value is True and how.startswith("an answer, 20")
        status, text = await models(tmp_path, "show")
    assert status == 0
    assert (
        "by a JSON schema, at most 1,024 tokens each (/props says that it takes no tools)" in text
    )
    assert "4,096 tokens" in text


async def test_a_refusal_is_shown_with_the_words_of_the_endpoint(tmp_path: Path) -> None:
    def script(body: Body) -> Reply:
        if "tools" in body:
            error = {"message": "gemma does not support tools"}
            return reply_with_status({"error": error}, "400 Refused")
        return Reply(text=json.dumps(CALL))

    async with openai_server(script) as server:
        configured(tmp_path, server, "gemma")
        status, text = await models(tmp_path, "test")
        assert status == 0, text
        told = await shown(tmp_path)
    value, how = row(told, "tools")
    assert value is False and how.startswith("a refusal, 20")
    assert told["known"]["tools"]["said"] == "gemma does not support tools"


async def test_several_calls_and_the_want_of_a_call_are_noted(tmp_path: Path) -> None:
    two = Reply(tools=(tool("wait", seconds=0), tool("wait", seconds=1)))
    async with openai_server([Reply(text="Hello."), two]) as server:
        configured(tmp_path, server, "talkative", constrained_calls="off")
        status, _ = await models(tmp_path, "test")
        assert status == 0
        told = await shown(tmp_path)
    assert [row(told, name)[0] for name in ("tools", "parallel calls", "required choice")] == [
        True,
        True,
        True,
    ]


async def test_what_cannot_be_asked_now_is_said_with_the_reason(tmp_path: Path) -> None:
    async with openai_server([]) as server:
        configured(tmp_path, server, "gone", context_window=5000)
    told = await shown(tmp_path)
    assert "cannot be reached" in told["not_asked"]
    assert row(told, "window") == (5000, "setting model.context_window")
    assert row(told, "tools") == (None, "never tried")
    status, text = await models(tmp_path, "show", "pilot")
    assert status != 0 and "offline pilot" in text


# --- reading ----------


def test_whatever_is_asked_says_only_what_it_says() -> None:
    for preset in ("llamacpp", "ollama", "lmstudio"):
        found = page_of([], preset, "m")
        assert found is not None
        kind, page = found
        for said in (None, 3, [], {}, {"data": 3}, {"capabilities": 3}, {"chat_template_caps": []}):
            assert facts_in(kind, page, said, "m") == Offer()


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                (
                    *("data", "id", "capabilities", "chat_template_caps", "modalities", "vision"),
                    *("default_generation_settings", "n_ctx", "supports_tools", "type", "owned_by"),
                    *("supported_parameters", "top_provider", "architecture", "input_modalities"),
                )
            ),
            inner,
        )
    ),
    max_leaves=20,
)


@given(_json, st.sampled_from(("llamacpp", "ollama", "lmstudio")))
def test_no_page_breaks_the_reading(said: Any, preset: str) -> None:
    rows = [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []
    found = page_of(rows, preset, "m")
    assert found is not None
    kind, page = found
    offer = facts_in(kind, page, said, "m")
    for listed in (*offers_in(json.dumps(said).encode()).values(), offer):
        assert set(listed.said_in) <= set(Offer._fields)
        assert None not in [getattr(listed, name) for name in listed.said_in]


def test_each_kind_of_server_is_read_by_its_own_page() -> None:
    pages: dict[str, tuple[Any, Callable[[Offer], bool]]] = {
        "llamacpp": (json.loads(props(n_ctx=8192, tools=True)), lambda o: o.tools is True),
        "ollama": (
            {"capabilities": ["completion", "vision"], "model_info": {}},
            lambda o: (o.tools, o.pictures, o.schema) == (False, True, True),
        ),
        "lmstudio": (
            {
                "data": [
                    {"id": "other", "type": "llm"},
                    {"id": "m", "type": "vlm", "loaded_context_length": 4096},
                ]
            },
            # Tools that a model was not trained for are put into its prompt there.
            lambda o: (o.tools, o.pictures, o.window) == (None, True, 4096),
        ),
    }
    owners = {"llamacpp": "llamacpp", "ollama": "library", "lmstudio": "organization_owner"}
    for kind, (said, is_right) in pages.items():
        found = page_of([{"id": "m", "owned_by": owners[kind]}], "", "m")
        assert found is not None and found[0] == kind
        offer = facts_in(*found, said, "m")
        assert is_right(offer), offer
        assert set(offer.said_in.values()) == {found[1].name}
    assert page_of([{"id": "m", "owned_by": "vllm"}], "", "m") is None


def test_a_hosted_listing_says_what_its_models_take() -> None:
    rows = [
        {
            "id": "a/b",
            "context_length": 131072,
            "supported_parameters": ["tools", "tool_choice"],
            "top_provider": {"max_completion_tokens": 16384},
        },
        {"id": "m", "capabilities": {"function_calling": True, "vision": False}},
    ]
    offers = offers_in(json.dumps({"data": rows}).encode())
    assert offers["a/b"][:7] == (131072, None, True, True, False, None, 16384)
    assert (offers["m"].tools, offers["m"].pictures) == (True, False)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-opus-4-5", {"window": "catalogue"}),
        ("mistral/some-new-one", {"call ids": "catalogue", "tools": "never tried"}),
        ("gpt-5-mini", {"vision": "catalogue", "JSON schema": "catalogue"}),
    ],
)
def test_what_the_table_knows_is_told_as_its_own(model: str, expected: dict[str, str]) -> None:
    rows = known_of(endpoint_for("", model), ModelSettings(), Offer(), {})
    assert len(rows) == len(Trait)
    how = {row.trait.value: row.how for row in rows}
    assert {name: how[name] for name in expected} == expected


def test_notes_outlive_a_bad_file_and_stay_bounded(tmp_path: Path) -> None:
    notes = EndpointNotes(tmp_path / "sub" / "endpoints.json")
    note = notes.at("http://127.0.0.1:1/v1", "m")
    note(Trait.TOOLS, False, Source.REFUSAL, "no tools")
    assert notes.of("http://127.0.0.1:1/v1", "m")["tools"].said == "no tools"
    assert notes.of("http://127.0.0.1:2/v1", "m") == {}
    for at in range(205):
        notes.at("http://127.0.0.1:1/v1", f"m{at}")(Trait.STREAMING, True, Source.ANSWER)
    assert notes.of("http://127.0.0.1:1/v1", "m") == {}, "the oldest went"
    (tmp_path / "sub" / "endpoints.json").write_bytes(b'{"a": ')
    assert notes.of("http://127.0.0.1:1/v1", "m204") == {}
    note(Trait.TOOLS, True, Source.ANSWER)
    assert notes.of("http://127.0.0.1:1/v1", "m")["tools"].value is True
    (tmp_path / "file").write_text("")
    EndpointNotes(tmp_path / "file" / "x.json").at("a", "m")(Trait.TOOLS, True, Source.ANSWER)
    assert Endpoint(base_url="http://127.0.0.1:1/v1").is_near
