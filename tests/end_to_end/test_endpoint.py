"""A whole session driven by an OpenAI-compatible endpoint: real HTTP, streamed, through the SDK."""

import asyncio
import json
import signal
from typing import Any

import pytest

from tests.end_to_end.conftest import Bench
from tests.end_to_end.harness import wait_until
from tests.openai_server import Reply, openai_server, tool


def shown(request: dict[str, Any]) -> str:
    """Return the words that the model was sent last."""
    content = request["messages"][-1]["content"]
    return content if isinstance(content, str) else json.dumps(content)


@pytest.mark.slow
async def test_an_endpoint_drives_a_session_on_the_phone(bench: Bench) -> None:
    bench.begin()
    replies = [
        Reply(text="First the app.", tools=(tool("launch_app", app="com.android.settings"),)),
        Reply(
            text="It is open.", tools=(tool("finish", success=True, summary="Settings is open"),)
        ),
        # A fresh conversation asks whether the goal is met.
        Reply(
            tools=(
                tool("give_verdict", verdict="met", evidence=["Settings"], reason="It is shown."),
            )
        ),
    ]
    async with openai_server(replies) as endpoint:
        call = await asyncio.to_thread(
            bench.call,
            *("run", "open Settings", "--device", bench.serial, "--json"),
            *("--model", "scripted-1", "--base-url", endpoint.base_url),
            OPENAI_API_KEY="key-of-a-test",
        )
    assert call.code == 0, call
    assert [request["model"] for request in endpoint.requests] == ["scripted-1"] * 3
    assert all(request["stream"] for request in endpoint.requests)
    assert endpoint.headers[0]["authorization"] == "Bearer key-of-a-test"
    kinds = [line["msg"]["type"] for line in call.lines]
    assert kinds.count("tool_call_finished") == 2
    session = bench.call("sessions", "show", call.lines[0]["session_id"], "--json").json
    assert (session["stateLabel"], session["model"]) == ("COMPLETED", "scripted-1")
    assert session["latestResult"] == "Settings is open"
    assert session["outputTokens"] > 0
    assert session["verifiedBy"] == "verifier"
    assert "settings" in bench.call("phone", "state", "--json").json["foreground"]
    assert "key-of-a-test" not in call.out + call.err


@pytest.mark.slow
async def test_an_endpoint_that_refuses_the_key_fails_the_session_at_once(bench: Bench) -> None:
    refusal = Reply(status=401, error_code="invalid_api_key")
    async with openai_server([refusal] * 9) as endpoint:
        call = await asyncio.to_thread(
            bench.call,
            *("run", "open Settings", "--device", bench.serial),
            *("--model", "scripted-1", "--base-url", endpoint.base_url),
            OPENAI_API_KEY="wrong",
        )
    assert call.code == 1, call
    assert len(endpoint.requests) == 1, "a terminal error is never tried again"
    assert "401" in call.err or "key" in call.err


@pytest.mark.slow
async def test_an_endpoint_that_keeps_failing_ends_the_run_as_failed(bench: Bench) -> None:
    bench.begin()
    # A wait that the endpoint itself forbids is where trying again ends early: no test waits 60 s.
    broken = Reply(status=500, headers=(("retry-after", "100000"),))
    async with openai_server([broken] * 9) as endpoint:
        call = await asyncio.to_thread(
            bench.call,
            *("run", "open Settings", "--device", bench.serial),
            *("--model", "scripted-1", "--base-url", endpoint.base_url),
            OPENAI_API_KEY="k",
        )
    assert call.code == 1, call
    assert "interrupted" not in call.err
    said = [line for line in call.err.splitlines() if "scripted failure 500" in line]
    tries = call.err.count("\nrecovery ")
    assert [line.partition(":")[0] for line in said] == ["error"] * tries + ["switchboard"], call
    assert tries > 0, "it is tried again by itself"
    assert "switchboard: failed: The model endpoint failed" in call.err
    assert "switchboard sessions resume" in call.err.splitlines()[-1]


@pytest.mark.slow
async def test_a_page_instead_of_an_endpoint_fails_at_once_and_names_the_base_url(
    bench: Bench,
) -> None:
    bench.begin()
    async with openai_server([Reply(garbage=b"<html>It works!</html>")] * 9) as endpoint:
        call = await asyncio.to_thread(
            bench.call,
            *("run", "open Settings", "--device", bench.serial),
            *("--model", "scripted-1", "--base-url", endpoint.base_url),
            OPENAI_API_KEY="k",
        )
    assert call.code == 1, call
    assert len(endpoint.requests) == 1
    assert endpoint.base_url in call.err
    assert call.err.count("is not an OpenAI-compatible endpoint") == 1, call.err


@pytest.mark.slow
async def test_a_session_stays_at_its_endpoint_whoever_resumes_it(bench: Bench) -> None:
    bench.begin()
    done = Reply(tools=(tool("finish", success=True, summary="It is home"),))
    sure = Reply(
        tools=(tool("give_verdict", verdict="met", evidence=["Settings"], reason="It is shown."),)
    )
    async with (
        openai_server([Reply(silent=True)] * 9) as chosen,
        openai_server([done, sure] * 4) as set_now,
    ):

        def stopped_at_a_call(*words: str, **more: str) -> str:
            """Run a command until the model is asked once more, and stop it; return its speech."""
            before = len(chosen.requests)
            with bench.running(*words, "--json", **more) as run:
                wait_until(
                    lambda: len(chosen.requests) > before or run.process.poll() is not None,
                    "the model is asked",
                )
                run.process.send_signal(signal.SIGINT)
                run.wait()
                speech = "".join(run.speech)
            assert len(chosen.requests) > before, speech
            return speech

        speech = await asyncio.to_thread(
            stopped_at_a_call,
            *("run", "see that it is home", "--device", bench.serial),
            *("--max-steps", "7", "--reasoning-effort", "low", "--at-limit", "stop"),
            *("--model", "scripted-1", "--base-url", chosen.base_url),
            OPENAI_API_KEY="key-of-a-test",
        )
        hint = next(line for line in speech.splitlines() if "sessions resume" in line)
        assert hint.endswith(f" --base-url {chosen.base_url}"), speech
        session_id = hint.partition("sessions resume ")[2].split()[0]
        await asyncio.to_thread(
            stopped_at_a_call,
            *("sessions", "resume", session_id),
            SWITCHBOARD_MODEL_BASE_URL=set_now.base_url,
            OPENAI_API_KEY="key-of-another",
        )
        assert set_now.requests == [], "nobody chose that endpoint for this session"
        assert "key-of-another" not in str(chosen.headers)
        assert chosen.requests[-1]["reasoning_effort"] == "low"
        moved = await asyncio.to_thread(
            bench.call, "sessions", "resume", session_id, "--base-url", set_now.base_url
        )
        assert set_now.requests, moved
    shown = bench.call("sessions", "show", session_id)
    assert f"scripted-1 at {set_now.base_url}" in shown.out, shown
    assert " of 7" in shown.out


@pytest.mark.slow
async def test_a_script_hints_pauses_and_stops_a_session_of_another_process(bench: Bench) -> None:
    bench.begin()

    def steer(base_url: str) -> None:
        words = ("run", "open Settings", "--device", bench.serial, "--json")
        with bench.running(*words, "--model", "m", "--base-url", base_url) as run:
            began = run.wait_for(lambda line: line["msg"]["type"] == "step_started", "a step")
            session_id = began["session_id"]
            hint = bench.call("sessions", "hint", session_id, "use the work account", "--json")
            assert (hint.code, hint.json) == (0, {"ok": True}), hint
            told = run.wait_for(lambda line: line["msg"]["type"] == "user_message", "the hint")
            while not told["msg"].get("steer"):
                told = run.wait_for(lambda line: line["msg"]["type"] == "user_message", "the hint")
            assert told["msg"]["text"] == "use the work account"
            assert bench.call("sessions", "pause", session_id).code == 0
            shown = bench.call("sessions", "list")
            assert "paused" in shown.out, shown
            assert bench.call("sessions", "resume", session_id).code == 0
            assert bench.call("sessions", "stop", session_id).code == 0
            wait_until(lambda: run.process.poll() is not None, "the run ends")
        late = bench.call("sessions", "hint", session_id, "and be quick")
        assert late.code == 4, late
        assert f"sessions start {session_id} --prompt TEXT" in late.err

    async with openai_server([Reply(silent=True)] * 9) as endpoint:
        await asyncio.to_thread(steer, endpoint.base_url)
