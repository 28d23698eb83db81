"""The reference pages: every command and its exits, every op, event and method, and the schema."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import NODEFAULT

from agent import errors
from agent.config import KEYS, load_settings
from agent.errors import ConfigError, RpcCode, SwitchboardError
from agent.rpc.connection import METHODS
from console import cli_page
from console.cli_support import protocol_page, settings_page
from console.cli_support.exits import ExitCode, code_of

DOCS = Path(__file__).parent.parent.parent.parent / "docs"
ROW = re.compile(r"^\| `?(?P<name>[^`|]+?)`? \|(?:.*\|)? (?P<last>[^|]*) \|$", re.MULTILINE)


def rows(text: str) -> dict[str, str]:
    """Return the rows of a page's tables: first cell to last cell."""
    return {found["name"]: found["last"] for found in ROW.finditer(text)}


def test_every_command_has_its_row_and_its_exits() -> None:
    written = rows((DOCS / "cli.md").read_text(encoding="utf-8"))
    wanted = {
        words: ", ".join(str(int(code)) for code in cli_page.exits_of(words))
        for words, _ in cli_page.commands()
    }
    stale = {words for words, exits in wanted.items() if written.get(words) != exits}
    assert not stale, "make it anew: switchboard protocol cli > docs/cli.md"


def test_every_setting_has_its_row() -> None:
    written = (DOCS / "settings.md").read_text(encoding="utf-8")
    assert written == settings_page.as_markdown(), (
        "make it anew: switchboard protocol settings > docs/settings.md"
    )
    assert set(KEYS) <= set(rows(written))


def test_the_page_names_every_setting_that_no_variable_can_set(tmp_path: Path) -> None:
    samples = {"adb.server": "a:1,b:2", "loop.without": "masking,bans"}
    samples["safety.two_people"] = "spend,send"
    samples["notices.urgent"] = "question,failed"
    refused = set()
    for name, key in KEYS.items():
        if key.default is NODEFAULT or isinstance(key.default, tuple):
            environ = {"SWITCHBOARD_DATA_DIR": str(tmp_path)}
            environ[key.variable] = samples.get(name, "one,two")
            try:
                load_settings(environ=environ)
            except ConfigError as error:
                assert "The default is" not in str(error)
                refused.add(name)
    page = " ".join(settings_page.as_markdown().split())
    [named] = re.findall(r"Only the file can set (.*?)\. ", page)
    assert set(re.findall(r"`([\w.]+)`", named)) == refused


def test_every_exit_code_and_every_error_code_has_its_row() -> None:
    written = rows((DOCS / "cli.md").read_text(encoding="utf-8"))
    assert {str(int(code)) for code in ExitCode} <= set(written)
    for code, exit_code in cli_page.RPC_EXITS.items():
        assert written[str(int(code))] == str(int(exit_code))
    assert set(cli_page.RPC_EXITS) == set(RpcCode) and set(cli_page.MEANINGS) == set(ExitCode)


@pytest.mark.parametrize("code", list(RpcCode))
def test_an_error_ends_a_command_as_the_table_says(code: RpcCode) -> None:
    error = SwitchboardError("x")
    error.code = code
    assert code_of(error) is cli_page.RPC_EXITS[code]


def test_what_can_only_be_mended_in_the_call_or_the_settings_ends_with_two() -> None:
    assert code_of(errors.UsageError("x")) is ExitCode.USAGE
    assert code_of(errors.ConfigError("x")) is ExitCode.USAGE
    assert code_of(errors.WrongStateError("x")) is ExitCode.WRONG_STATE
    assert code_of(errors.StoreError("x")) is ExitCode.FAILED


def test_every_op_event_and_method_has_its_row_and_what_comes_back() -> None:
    written = rows((DOCS / "protocol.md").read_text(encoding="utf-8"))
    wanted = rows(protocol_page.as_markdown())
    stale = {name for name in wanted if written.get(name) != wanted[name]}
    assert not stale, "make it anew: switchboard protocol page > docs/protocol.md"
    assert set(METHODS) <= set(protocol_page.METHOD_REPLIES)


@pytest.mark.parametrize(
    ("command", "name", "drawn"),
    [("cli", "cli.md", cli_page.as_markdown), ("page", "protocol.md", protocol_page.as_markdown)],
)
def test_a_page_is_as_its_command_prints_it(
    command: str, name: str, drawn: Callable[[], str]
) -> None:
    written = (DOCS / name).read_text(encoding="utf-8")
    assert written == drawn(), f"make it anew: switchboard protocol {command} > docs/{name}"


def test_every_kind_that_a_field_holds_is_described() -> None:
    page, _, kinds = protocol_page.as_markdown().partition("## Kinds")
    table = "\n".join(line for line in page.splitlines() if line.startswith("| `"))
    columns = "\n".join(line.split("|")[2] for line in (table + kinds).splitlines() if "|" in line)
    named = set(re.findall(r"`\?? \[?([A-Z]\w+)|or ([A-Z]\w+)", columns))
    described = set(re.findall(r"(?m)^\| `(\w+)`", kinds))
    names = {one or other for one, other in named}
    assert {"SessionState", "Target", "WheelButton"} <= names <= described
    assert "`RUNNING`" in kinds and "| `WheelTap` | `do` `tap`, `at` Point |" in kinds


def test_the_schema_names_every_op_and_event() -> None:
    schema = protocol_page.as_schema()
    tags = {
        one["properties"]["type"]["enum"][0]
        for one in schema["$defs"].values()
        if "type" in one.get("properties", {}) and "enum" in one["properties"]["type"]
    }
    assert {"session_attach", "user_input_answer", "notice_posted", "session_deferred"} <= tags
