"""The files to deploy a fleet with start commands that there are, and hold no address."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest
import yaml

from console.cli import cli

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "deploy").glob("*.service"))
COMPOSE = ROOT / "deploy/compose.yaml"


def check(words: list[str]) -> None:
    """Parse a line as the command does, without running it."""
    command: click.Command = cli
    context = click.Context(command)
    while isinstance(command, click.Group):
        parser = command.make_parser(context)
        _, rest, _ = parser.parse_args(list(words))
        _, found, words = command.resolve_command(context, rest)
        assert found is not None, rest
        command, context = found, click.Context(found, parent=context)
    _, rest, _ = command.make_parser(context).parse_args(list(words))
    assert rest == []


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_a_unit_starts_a_command_that_there_is(unit: Path) -> None:
    text = unit.read_text(encoding="utf-8")
    [line] = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    program, *words = shlex.split(line)
    assert Path(program).name == "switchboard"
    assert "@/etc/switchboard/dsn" in words
    check(words)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    for unit in UNITS:
        # The one thing that is not here is the installed command.
        text = unit.read_text(encoding="utf-8").replace(
            "/opt/switchboard/bin/switchboard", "/bin/true"
        )
        (tmp_path / unit.name).write_text(text, encoding="utf-8")
    units = [str(tmp_path / unit.name) for unit in UNITS]
    verify = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no"]
    done = subprocess.run([*verify, *units], capture_output=True, text=True, check=False)
    ours = [line for line in done.stderr.splitlines() if "switchboard" in line]
    assert (done.returncode, ours) == (0, [])
    (tmp_path / "wrong.service").write_text("[Service]\nExecStrat=/bin/true\n", encoding="utf-8")
    control = [*verify, str(tmp_path / "wrong.service")]
    assert subprocess.run(control, capture_output=True, check=False).returncode != 0


def test_the_compose_file_names_nothing_that_it_does_not_have() -> None:
    whole = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))
    services = whole["services"]
    for service in services.values():
        assert set(service.get("secrets", ())) <= set(whole["secrets"])
        assert set(service.get("depends_on", ())) <= set(services)
        named = {one.partition(":")[0] for one in service.get("volumes", ())}
        assert named <= set(whole["volumes"])
    # What is kept in a volume is kept in the place where the image keeps it.
    kept = services["core"]["volumes"][0].partition(":")[2]
    assert f"SWITCHBOARD_DATA_DIR={kept} " in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_compose_file_starts_commands_that_there_are() -> None:
    text = COMPOSE.read_text(encoding="utf-8")
    [line] = re.findall(r"^    command: \[(.*)\]$", text, re.MULTILINE)
    check([word.strip().strip('"') for word in line.split(",")])
    assert re.findall(r"PASSWORD(?!_FILE)\w*:", text) == []


def test_the_control_a_command_that_there_is_not_is_seen() -> None:
    with pytest.raises(click.ClickException):
        check(["--fleet", "@x", "daemon", "fly"])
    with pytest.raises(click.ClickException):
        check(["--fleets", "@x", "daemon", "run"])
