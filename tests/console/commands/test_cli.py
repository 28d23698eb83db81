"""The switchboard command before it does anything: help, suggestions, exit codes, laziness."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from agent.errors import ConfigError, DeviceError, StoreError
from console import cli
from console.cli_support import exits
from tests.end_to_end import warm
from tests.end_to_end.warm import SWITCHBOARD


def call(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return warm.call(words, {**os.environ, **environment})


@pytest.mark.parametrize(
    ("words", "line", "environment"),
    [
        (["--help"], "\n  {} ", {}),
        ([], "plain,{}\n", {"_PROBE_COMPLETE": "bash_complete", "COMP_CWORD": "1"}),
    ],
    ids=["help", "completion"],
)
def test_help_names_every_command_and_loads_none_of_them(
    words: list[str], line: str, environment: dict[str, str]
) -> None:
    probe = (
        "import sys, console.cli as c\n"
        f"try: c.cli.main({words}, prog_name='probe')\n"
        "except SystemExit: pass\n"
        "import console.cli_support.exits\n"
        "print(sorted(m for m in sys.modules if m.startswith(('agent', 'console'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "COMP_WORDS": "probe ", **environment},
    )
    for name in cli.COMMANDS:
        assert line.format(name) in done.stdout
    assert done.stdout.splitlines()[-1] == str(
        ["console", "console.cli", "console.cli_support", "console.cli_support.exits"]
    )


def test_help_costs_little_more_than_the_library_that_reads_the_words() -> None:
    # A ratio: machines differ. `switchboard bench startup` says how long it takes.
    help_s = min(_processor_seconds(*SWITCHBOARD, "--help") for _ in range(5))
    click_s = min(_processor_seconds(sys.executable, "-c", "import click") for _ in range(5))
    assert help_s < 3 * click_s


def _processor_seconds(*command: str) -> float:
    """Measure what a command costs the processor, as the clock also counts the other tests."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, timeout=60, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_every_command_in_the_table_explains_itself(name: str) -> None:
    command = cli.cli.get_command(click.Context(cli.cli), name)
    assert command is not None
    assert command.name == name
    assert command.help
    with click.Context(command, info_name=name) as context:
        assert "Usage:" in command.get_help(context)


def test_a_mistyped_command_is_a_usage_error_with_a_suggestion() -> None:
    done = call("sesions")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "sessions" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--no-such-option"],
        ["run"],
        ["run", ""],
        ["run", "   "],
        ["run", "goal", "--max-steps", "0"],
        ["run", "goal", "--device", "X", "--virtual"],
        ["sessions", "nothing"],
        ["jobs", "stop", "0"],
        ["jobs", "create", ""],
        ["jobs", "create", "look", "--silent", "--none"],
        ["jobs", "create", "look", "--silent", "--notice", "Done."],
        ["jobs", "create", "look", "--timezone", "Europe/Lisbon"],
        ["completion", "tcsh"],
    ],
)
def test_what_cannot_be_used_ends_with_two(words: list[str], tmp_path: Path) -> None:
    done = call(*words, SWITCHBOARD_DATA_DIR=str(tmp_path / "data"))
    assert done.returncode == 2
    assert done.stderr.startswith("switchboard: ")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (click.IntRange(1, 1000), "--most is a whole number from 1 to 1,000, not 'abc'."),
        (click.IntRange(0), "--most is a whole number, 0 or more, not 'abc'."),
        (click.FloatRange(0, min_open=True), "--most is a number above 0, not 'abc'."),
    ],
)
def test_a_number_that_cannot_be_used_is_met_with_those_that_can(
    kind: click.IntRange | click.FloatRange, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = click.Command("count", params=[click.Option(["--most"], type=kind)])
    assert exits.run_command(command, ["--most", "abc"]) == 2
    assert capsys.readouterr().err.startswith(f"switchboard: {said}\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_shell(shell: str) -> None:
    done = call("completion", shell)
    assert done.returncode == 0
    assert "_SWITCHBOARD_COMPLETE" in done.stdout


@pytest.mark.parametrize(
    ("group", "old", "new"),
    [
        ("sessions", "read", "show"),
        ("store", "begin-anew", "reset"),
        ("store", "carry-over", "migrate"),
        ("store", "set-aside", "quarantine"),
    ],
)
def test_another_name_of_a_command_works_and_is_not_listed(group: str, old: str, new: str) -> None:
    commands = cli.cli.get_command(click.Context(cli.cli), group)
    assert isinstance(commands, click.Group)
    context = click.Context(commands)
    assert commands.get_command(context, old) is commands.get_command(context, new) is not None
    assert new in commands.list_commands(context) and old not in commands.list_commands(context)


def groups(command: click.Command, path: str = "switchboard") -> Iterator[click.Context]:
    """Yield the groups of commands below the whole program, each as it is called."""
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path, terminal_width=80)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from groups(child, f"{path} {name}")
        yield context


def test_the_help_of_a_group_cuts_no_sentence() -> None:
    for context in groups(cli.cli):
        group = context.command
        assert isinstance(group, click.Group)
        shown = " ".join(group.get_help(context).split())
        for name in group.list_commands(context) if group is not cli.cli else ():
            command = group.get_command(context, name)
            assert command is not None
            assert command.get_short_help_str(200) in shown, f"{context.info_name} {name}"


def test_completion_knows_the_commands() -> None:
    done = call(_SWITCHBOARD_COMPLETE="bash_complete", COMP_WORDS="switchboard ses", COMP_CWORD="1")
    assert done.stdout.split() == ["plain,sessions"]


def test_the_console_without_a_terminal_says_what_works_without_one(tmp_path: Path) -> None:
    done = call(SWITCHBOARD_DATA_DIR=str(tmp_path))
    assert done.returncode == 2
    assert "terminal" in done.stderr
    assert "switchboard run" in done.stderr


# --- how a command ends ----------


def ends_with(error: BaseException) -> int:
    """Run a command that raises."""

    @click.command()
    def failing() -> None:
        raise error

    return exits.run_command(failing, [])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StoreError("The disk is full.", "Free some space."), 1),
        (DeviceError("The phone refused."), 1),
        (ConfigError("Unknown key."), 2),
        (exits.CommandEnd(exits.ExitCode.NEEDS_ANSWER), 3),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (OSError(28, "No space left on device", "/data/x"), 1),
        (ZeroDivisionError("oops"), 1),
        (ExceptionGroup("one", [StoreError("Inside.")]), 1),
    ],
)
def test_an_error_becomes_its_exit_code(error: BaseException, code: int) -> None:
    assert ends_with(error) == code


def test_an_error_is_one_line_and_its_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    ends_with(StoreError("The disk\nis \x1b[31mfull.", "Free some space."))
    assert capsys.readouterr().err == "switchboard: The disk is full.\nFree some space.\n"


def test_the_traceback_shows_only_when_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SWITCHBOARD_DEBUG", raising=False)
    ends_with(ZeroDivisionError("oops"))
    quiet = capsys.readouterr().err
    assert "Traceback" not in quiet
    assert "SWITCHBOARD_DEBUG=1" in quiet
    monkeypatch.setenv("SWITCHBOARD_DEBUG", "1")
    ends_with(ZeroDivisionError("oops"))
    assert "Traceback" in capsys.readouterr().err


def test_a_reader_that_leaves_early_is_no_failure_to_talk_about() -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -c 'from console.cli import main; main()' --help | true"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_stream_that_the_caller_closed_is_no_failure(closed: str, tmp_path: Path) -> None:
    command = f"{sys.executable} -c 'from console.cli import main; main()' sessions list {closed}"
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "SWITCHBOARD_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr


@pytest.mark.parametrize(
    ("terminal", "said", "has_none"),
    [
        ("vt100", "", True),
        ("dumb", "", True),
        ("vt100", "truecolor", False),
        ("xterm-256color", "", False),
        ("a-terminal-of-next-year", "", False),
    ],
)
def test_a_terminal_without_colours_gets_none(terminal: str, said: str, has_none: bool) -> None:
    pytest.importorskip("curses")
    # A process of its own: Python asks terminfo once.
    ask = "from console.commands.console import has_no_colours; print(has_no_colours())"
    done = subprocess.run(
        [sys.executable, "-c", ask],
        env={**os.environ, "TERM": terminal, "COLORTERM": said},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == str(has_none)


def test_a_terminal_without_a_cursor_is_told_what_works_on_it(tmp_path: Path) -> None:
    master, slave = os.openpty()
    try:
        done = subprocess.run(
            [*SWITCHBOARD, "--data-dir", str(tmp_path / "data")],
            stdin=slave,
            stdout=slave,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            env={**os.environ, "TERM": "dumb"},
            check=False,
        )
    finally:
        os.close(slave)
        os.close(master)
    assert done.returncode == exits.ExitCode.USAGE
    assert "TERM=dumb" in done.stderr
    assert "switchboard run GOAL" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "data").exists()


_PRINTS_AND_WAITS = """
import sys, click
from console.cli_support.exits import run_command
from console.cli_support.plain import print_text

@click.command()
def waits() -> None:
    print_text("http://127.0.0.1:1")
    sys.stdin.read()

sys.exit(run_command(waits, []))
"""


def test_a_line_reaches_a_pipe_while_the_command_goes_on() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PRINTS_AND_WAITS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "http://127.0.0.1:1\n"
        assert running.poll() is None
        running.communicate("")
    assert running.returncode == 0
