"""Runs are kept as they come, go on where they ended, are shown and compared."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.config import load_settings
from agent.errors import UsageError
from agent.exercises.exercise import Exercise
from agent.records import Usage
from agent.settings import Settings
from bench.exercises.fallible.server import fallible_models
from console.cli import cli
from console.evaluation import suites, summary
from console.evaluation.run_folder import RunPlan, begin, keep, key_of, read_run
from console.evaluation.run_page import render
from console.evaluation.running import Limits, carry_out
from console.evaluation.trial import Outcome
from tests.openai_server import Reply, openai_server, tool

HOSTILE = "<script>alert(1)</script>\x1b]52;c;AAAA\x07"


def plan_of(*names: str, **fields: object) -> RunPlan:
    base = {"suite": "everyday", "digest": "d", "exercises": names, "models": ("m",)}
    return RunPlan(**{**base, **fields})  # type: ignore[arg-type]


def outcome(exercise: str, why: str = "", **fields: object) -> Outcome:
    return Outcome(exercise=exercise, model="m", seed=1, repeat=1, why=why, **fields)  # type: ignore[arg-type]


def test_a_run_goes_on_with_its_own_plan_and_with_no_other(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    plan = plan_of("a", "b")
    begin(folder, plan)
    keep(folder, outcome("b"))
    with (folder / "results.jsonl").open("ab") as file:
        file.write(b'{"exercise": "a", "mod')
    keep(folder, outcome("a", "no"))
    again = begin(folder, plan)
    assert [(o.exercise, o.why) for o in again.outcomes] == [("a", "no"), ("b", "")]
    assert again.is_whole
    with pytest.raises(UsageError, match="repeats"):
        begin(folder, plan_of("a", "b", repeats=2))
    (tmp_path / "other").mkdir()
    (tmp_path / "other/file").touch()
    with pytest.raises(UsageError, match="nor a run"):
        begin(tmp_path / "other", plan)
    with pytest.raises(UsageError, match="not a run"):
        read_run(tmp_path / "other")


def test_two_runs_are_compared_trial_by_trial(tmp_path: Path) -> None:
    names = tuple(f"e{n}" for n in range(12))
    for run, passed in (("a", 4), ("b", 11)):
        begin(tmp_path / run, plan_of(*names))
        for at, name in enumerate(names):
            spent = Usage(input_tokens=10, cost_usd=0.5)
            keep(tmp_path / run, outcome(name, "" if at < passed else "no", usage=spent))
    keep(tmp_path / "b", outcome("stranger"))
    [told] = summary.compare(read_run(tmp_path / "a"), read_run(tmp_path / "b"))
    assert (told.a.passed, told.b.passed, told.difference) == (4, 11, pytest.approx(7 / 12))
    assert told.is_distinguishable and told.p == pytest.approx(2 / 2**7)
    assert [change.exercise for change in told.better] == list(names[4:11]) and not told.worse
    assert told.a.cost_usd == pytest.approx(6.0)
    said = "\n".join(summary.comparison_lines(told))
    assert "better: e4 0/1 → 1/1" in said and "+58.3%" in said
    begin(tmp_path / "c", plan_of("z"))
    with pytest.raises(UsageError, match="in common"):
        summary.compare(read_run(tmp_path / "a"), read_run(tmp_path / "c"))


def test_the_page_runs_nothing_and_fetches_nothing(tmp_path: Path) -> None:
    begin(tmp_path / "run", plan_of("a", models=(HOSTILE, "m")))
    keep(tmp_path / "run", outcome("a", HOSTILE, session_id="s1"))
    page = render(read_run(tmp_path / "run"), {"s1": "films/a-s1.gif"})
    assert "<script" not in page and "\x1b" not in page
    assert "default-src 'none'" in page
    assert re.findall(r'(?:src|href)="([^"]*)"', page) == ["films/a-s1.gif"]
    assert "1 of 2 trials so far" in page


def exercises(*names: str) -> tuple[Exercise, ...]:
    return suites.only(suites.read_suite("everyday", has_ocr=False), names).exercises


def settings_of(folder: Path, **model: object) -> Settings:
    from msgspec.structs import replace

    found = load_settings(overrides={"data_dir": str(folder)})
    # The server's script has answers for the agent only.
    safety = replace(found.safety, reviewer="off")
    return replace(found, model=replace(found.model, **model), safety=safety)


@pytest.mark.slow
async def test_trials_are_made_on_phones_of_another_process_by_an_endpoint_and_by_the_pilot(
    tmp_path: Path,
) -> None:
    names = ("bluetooth-on", "note-delete", "payment-refused")
    chosen = exercises(*names)
    plan = plan_of(*names, models=("fallible-none", "pilot"))
    run = begin(tmp_path / "run", plan)
    told: list[tuple[int, int]] = []
    async with fallible_models({e.goal: e.route for e in chosen}, seed=1) as url:
        settings = settings_of(tmp_path / "data", base_url=url, vision=False)
        await carry_out(
            run,
            chosen,
            settings,
            Limits(phones=2),
            lambda _outcome, done, total: told.append((done, total)),
        )
    done = read_run(tmp_path / "run")
    assert done.is_whole and told[-1] == (6, 6)
    passed = {(o.model, o.exercise) for o in done.outcomes if o.ok}
    assert {("fallible-none", name) for name in names} <= passed
    assert {("pilot", "bluetooth-on"), ("pilot", "note-delete")} <= passed
    refused = next(o for o in done.outcomes if key_of(o).exercise == "payment-refused")
    assert refused.approvals >= 1 and refused.session_id
    assert not any(o.is_false_done for o in done.outcomes)


async def test_a_secret_that_a_goal_says_is_given_when_the_agent_asks_for_it(
    tmp_path: Path,
) -> None:
    # What looks like a PIN is redacted in the goal, so whoever is tried has to ask for it.
    pressed = tool("press_keys", keys="[SECRET]")
    steps = (
        tool("launch_app", app="Wallet"),
        tool("click_element", label="Send"),
        tool("type_text", text="15", label="0.00"),
        tool("press_button", button="BACK"),
        tool("click_element", label="Tom Becker"),
        tool("click_element", label="Continue"),
        pressed,
        tool("finish", success=True, summary="Sent."),
    )
    met = Reply(text='{"verdict": "cannot tell", "evidence": []}')
    run = begin(tmp_path / "run", plan_of("payment-approved"))
    script = [Reply(tools=(step,)) for step in steps]
    async with openai_server([*script, met, script[-1], met]) as server:
        settings = settings_of(tmp_path / "data", base_url=server.base_url, vision=False)
        await carry_out(
            run, exercises("payment-approved"), settings, Limits(phones=1), lambda *_: None
        )
    [found] = read_run(tmp_path / "run").outcomes
    assert "the balance" not in found.why and found.approvals >= 1, found


async def test_an_endpoint_that_refuses_is_trouble_and_tried_again(tmp_path: Path) -> None:
    chosen = exercises("bluetooth-on")
    run = begin(tmp_path / "run", plan_of("bluetooth-on"))
    async with openai_server([Reply(status=401), Reply(status=401)]) as server:
        settings = settings_of(tmp_path / "data", base_url=server.base_url)
        await carry_out(run, chosen, settings, Limits(phones=1, retries=1), lambda *_: None)
    [found] = read_run(tmp_path / "run").outcomes
    assert not found.ok and "401" in found.trouble and found.tries == 2


async def test_a_checker_that_breaks_fails_its_exercise_alone(tmp_path: Path) -> None:
    from dataclasses import replace

    [one] = exercises("bluetooth-on")
    broken = replace(one, check=lambda _before, after, _record: str(after["nowhere"]))
    run = begin(tmp_path / "run", plan_of("bluetooth-on", models=("pilot",)))
    await carry_out(
        run, [broken], settings_of(tmp_path / "data"), Limits(phones=1), lambda *_: None
    )
    [found] = read_run(tmp_path / "run").outcomes
    assert "KeyError: 'nowhere'" in found.why and "Correct it" in found.why


def words_of(folder: Path) -> list[str]:
    names = ("bluetooth-on", "dark-theme", "airplane-mode", "font-size", "note-delete")
    only = [word for name in names for word in ("--only", name)]
    return ["eval", "everyday", *only, "--phones", "1", "--folder", str(folder), "--json"]


@pytest.mark.slow
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGKILL])
def test_what_was_done_stays_when_a_run_ends_early_and_the_same_command_goes_on(
    signum: signal.Signals, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    environment = {**os.environ, "SWITCHBOARD_DATA_DIR": str(tmp_path / "data")}
    command = [sys.executable, "-m", "console", *words_of(folder)]
    running = subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    assert running.stderr is not None
    for line in running.stderr:
        if line.startswith("[2/5]"):
            break
    running.send_signal(signum)
    rest = running.stderr.read()
    assert running.wait(60) in (130, -signal.SIGKILL)
    kept = read_run(folder).outcomes
    assert 2 <= len(kept) < 5
    if signum is signal.SIGINT:
        assert "Resume: --folder" in rest
    again = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    assert told["whole"] and len(told["outcomes"]) == 5
    assert f"5 trials, of which {len(kept)} ended" in again.stderr
    before = {o.exercise: o.session_id for o in kept}
    after = {o["exercise"]: o["session_id"] for o in told["outcomes"]}
    assert before.items() <= after.items(), "what was tried is not tried again"
    assert (folder / "report.html").is_file()


def test_a_suite_is_the_first_word_and_patterns_are_checked(tmp_path: Path) -> None:
    runner = CliRunner()
    listed = runner.invoke(cli, ["eval", "exercises", "everyday:text"])
    assert listed.exit_code == 0 and "note-many-scripts" in listed.output
    words = ["--data-dir", str(tmp_path), "eval", "everyday", "--ablate", "magic"]
    refused = runner.invoke(cli, words)
    assert "There is no pattern magic" in refused.output
    assert not (tmp_path / "evaluations").exists()
