"""Questions of a headless run: answered beforehand, from elsewhere, on the terminal, never."""

import contextlib
import os
import pty
import re
import subprocess

import pytest

from tests.end_to_end.conftest import Bench
from tests.end_to_end.harness import SWITCHBOARD, Workshop, wait_until

# Two people on the phone are called Ben, so nobody can know which one is meant.
GOAL = 'tell Ben "I will be ten minutes late"'
PILOT = ("--model", "pilot")


@pytest.fixture(autouse=True)
def _fresh_phone(bench: Bench) -> None:
    bench.begin()
    bench.let_scripts_approve()


def has_message(bench: Workshop, name: str) -> bool:
    """Return whether the phone's true state has the message in the conversation with somebody."""
    apps = bench.call("phone", "state", "--json").json["apps"]
    threads = next(app["threads"] for app in apps.values() if "threads" in app)
    (thread,) = [thread for thread in threads if thread["name"] == name]
    return any("ten minutes late" in message["body"] for message in thread["messages"])


@pytest.mark.slow
def test_a_question_is_answered_from_another_process(bench: Bench) -> None:
    with bench.running("run", GOAL, "--device", bench.serial, "--json", *PILOT) as running:
        question = running.wait_for_type("request_user_input")["question"]
        assert any("Ben Okafor" in option["label"] for option in question["options"])
        shown = bench.call("sessions", "show", question["session_id"], "--json").json
        assert shown["stateLabel"] == "WAITING_FOR_USER"
        assert [q["question_id"] for q in shown["questions"]] == [question["question_id"]]
        answered = bench.call("sessions", "answer", question["session_id"], "Ben Okafor")
        assert answered.code == 0, answered
        approval = running.wait_for_type("request_user_input")["question"]
        assert approval["kind"] == "approval"
        late = bench.call("sessions", "answer", question["question_id"], "Ben Carter")
        assert late.code != 0, "the first answer counted"
        assert not has_message(bench, "Ben Okafor")
        assert bench.call("sessions", "answer", approval["question_id"], "Approve").code == 0
        assert running.wait() == 0, running
    assert has_message(bench, "Ben Okafor")


@pytest.mark.slow
def test_silence_is_no_to_an_approval(bench: Bench) -> None:
    call = bench.call(
        "run",
        'tell Dad "I will be ten minutes late"',
        "--device",
        bench.serial,
        "--answer-timeout",
        "0.2",
        *PILOT,
    )
    assert call.code == 3, call
    assert "approval:" in call.err
    closed = "no answer in time; silence is no (waited "
    assert f"question closed: {closed}" in call.err
    session_id = bench.call("sessions", "list", "--json").json["data"][0]["sessionId"]
    for command in (("sessions", "show", session_id), ("audit", "show", "--session", session_id)):
        shown = next(line for line in bench.call(*command).out.splitlines() if closed in line)
        assert "the limit of the command that ran it" in shown
        assert re.search(r"\d\d:\d\d:\d\d", shown), "it says when"
    late = bench.call("sessions", "answer", session_id, "Approve")
    assert closed in late.err
    assert "answered by operator" not in call.err
    assert "failed:" in call.err.splitlines()[-1]
    assert "FAILED" not in call.err and "Do not try" not in call.err
    assert "Nobody answered in time" in call.err.splitlines()[-1]
    assert not has_message(bench, "Dad")


def test_answers_given_beforehand_are_used_in_order(bench: Bench) -> None:
    answers = ("--answer", "Ben Carter", "--answer", "Approve")
    call = bench.call("run", GOAL, "--device", bench.serial, *answers, "--json", *PILOT)
    assert call.code == 0, call
    said = [e["msg"]["answer"] for e in call.lines if e["msg"]["type"] == "question_answered"]
    assert said == ["Ben Carter", "Approve"]


@pytest.mark.slow
def test_silence_ends_with_three_and_the_answer_may_come_later(bench: Bench) -> None:
    call = bench.call(
        "run", GOAL, "--device", bench.serial, "--answer-timeout", "0.2", "--json", *PILOT
    )
    assert call.code == 3, call
    session_id = call.lines[0]["session_id"]
    assert f"switchboard sessions answer {session_id}" in call.err
    later = bench.call("sessions", "answer", session_id, "Ben Carter", "--answer", "Approve")
    assert later.code == 0, later
    assert bench.call("sessions", "show", session_id, "--json").json["stateLabel"] == "COMPLETED"


def test_a_session_that_asks_nothing_cannot_be_answered(bench: Bench) -> None:
    call = bench.call("run", "open Settings", "--device", bench.serial, "--json", *PILOT)
    refused = bench.call("sessions", "answer", call.lines[0]["session_id"], "yes")
    assert refused.code == 4, refused
    assert "has no open question" in refused.err


def test_somebody_at_the_terminal_is_asked_there(bench: Bench) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*SWITCHBOARD, "run", GOAL, "--device", bench.serial, "--quiet", *PILOT],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=bench.environment,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        os.set_blocking(ours, False)
        seen = b""

        def prompts() -> int:
            nonlocal seen
            # EIO: nobody holds the other end any more.
            with contextlib.suppress(BlockingIOError, OSError):
                seen += os.read(ours, 65_536)
            return seen.count(b"\n> ")

        wait_until(lambda: prompts() == 1, "the question is on the terminal", 60)
        assert "Ben Okafor" in seen.decode()
        os.write(ours, b"2\n")
        wait_until(lambda: prompts() == 2, "the approval is on the terminal", 60)
        os.write(ours, b"approve\n")
        assert process.stdout is not None
        assert b"Ben" in process.stdout.read()
        assert process.wait(60) == 0, seen.decode()
        process.stdout.close()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(ours)
