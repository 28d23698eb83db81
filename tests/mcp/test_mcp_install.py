"""`switchboard mcp install`: a client's file gets one entry, and nothing else in it changes."""

import json
import os
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ConfigError
from console.mcp.client_configs import CLIENTS, OURS, program
from console.mcp.config_files import changed, read, write
from tests.end_to_end import warm

ENTRY = {"type": "stdio", "command": "/opt/switchboard", "args": ["mcp"]}

keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(keys, values, max_size=4)
# What tomlkit and TOML have: no null, integers of 64 bits, no control characters in keys.
words = st.text("abcäöü .\"'#=[]-_", max_size=8)
toml_values = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


def set_in(text: str, entry: dict[str, Any] | None = ENTRY, *, toml: bool = False) -> str:
    return changed(text, "servers", "phone", entry, toml=toml, where="the file")


@given(
    rest=objects,
    servers=st.none() | st.dictionaries(keys, objects, max_size=3),
    indent=st.sampled_from([None, 1, 2, 4, "\t"]),
    bom=st.booleans(),
    crlf=st.booleans(),
)
def test_a_json_file_gets_the_entry_and_keeps_all_else(
    rest: dict[str, Any],
    servers: dict[str, Any] | None,
    indent: int | str | None,
    bom: bool,
    crlf: bool,
) -> None:
    before = {**rest, **({"servers": servers} if servers is not None else {})}
    if servers is None:
        before.pop("servers", None)
    text = json.dumps(before, indent=indent)
    text = ("\ufeff" if bom else "") + (text.replace("\n", "\r\n") if crlf else text)
    new = set_in(text)
    assert new.startswith("\ufeff") == bom
    found = json.loads(new.removeprefix("\ufeff"))
    old = before.get("servers", {}).get("phone", {})
    kept = {key: value for key, value in old.items() if key not in OURS}
    assert found == {**before, "servers": {**before.get("servers", {}), "phone": kept | ENTRY}}
    assert [key for key in found if key in before] == list(before), "the order stays"
    assert set_in(new) == new, "it is already there"
    without = json.loads(set_in(new, None).removeprefix("\ufeff"))
    rest_of_them = {k: v for k, v in before.get("servers", {}).items() if k != "phone"}
    assert without == {**before, "servers": rest_of_them}


@given(
    rest=st.dictionaries(words.filter(lambda key: key != "servers"), toml_values, max_size=4),
    servers=st.dictionaries(words, st.dictionaries(words, toml_values, max_size=3), max_size=3),
)
def test_a_toml_file_gets_the_entry_and_keeps_all_else(
    rest: dict[str, Any], servers: dict[str, Any]
) -> None:
    import tomlkit

    before = {**rest, "servers": servers} if servers else rest
    text = "# mine\n" + tomlkit.dumps(before)
    if tomllib.loads(text) != before:
        return
    new = set_in(text, toml=True)
    assert new.startswith("# mine\n")
    assert tomllib.loads(new) == {**before, "servers": {**servers, "phone": ENTRY}}
    assert set_in(new, toml=True) == new
    rest_of_them = {key: value for key, value in servers.items() if key != "phone"}
    without = tomllib.loads(set_in(new, None, toml=True))
    assert {"servers": {}, **without} == {**before, "servers": rest_of_them}


@given(text=st.text(max_size=60) | st.text('{}[]":,\n #=a1.', max_size=60), toml=st.booleans())
def test_no_text_is_changed_beyond_the_entry_or_fails_otherwise(text: str, toml: bool) -> None:
    try:
        new = set_in(text, toml=toml)
    except ConfigError as error:
        assert "the file" in error.message and error.remedy
        return
    parse: Callable[[str], Any] = tomllib.loads if toml else json.loads
    bare = text.removeprefix("\ufeff")
    before = parse(bare) if bare.strip() else {}
    found = parse(new.removeprefix("\ufeff"))
    entry = found["servers"].pop("phone")
    assert entry.items() >= ENTRY.items()
    rest_of_them = {k: v for k, v in before.get("servers", {}).items() if k != "phone"}
    assert found == {**before, "servers": rest_of_them}


def test_comments_order_and_neighbours_of_a_toml_file_stay() -> None:
    text = (
        '# my model\nmodel = "a"  # the fast one\n\n[mcp_servers.docs]  # read only\n'
        'url = "https://docs.example/mcp"\n\n[mcp_servers.phone]\n# patience\n'
        'startup_timeout_sec = 30\ncommand = "old"\n\n[mcp_servers.phone.env]\nLANG = "C"\n\n'
        "[profiles.x]\na = 1\n"
    )
    entry = CLIENTS["codex"].over_pipes([], {"SWITCHBOARD_DATA_DIR": "/srv"})
    new = changed(text, "mcp_servers", "phone", entry, toml=True, where="config.toml")
    for kept in ("# my model\n", "# the fast one\n", "# read only\n", "# patience\n"):
        assert kept in new
    found = tomllib.loads(new)["mcp_servers"]
    assert found["docs"] == {"url": "https://docs.example/mcp"}
    env = {"LANG": "C", "SWITCHBOARD_DATA_DIR": "/srv"}
    assert found["phone"] == {"startup_timeout_sec": 30, **entry, "env": env}


@pytest.mark.parametrize(
    ("text", "toml", "says"),
    [
        ('{\n  "servers": {,}\n}', False, "line 2, column 15"),
        ('{"a": 1, "a": 2}', False, "'a' occurs twice"),
        ('{"a": 1e999}', False, "too large"),
        ('{"a": NaN}', False, "NaN"),
        ("[]", False, "an object is expected"),
        ('{"servers": []}', False, "servers is not a JSON object"),
        ('{"servers": {"phone": 1}}', False, "servers.phone is not a JSON object"),
        ("[" * 200_000, False, "nested too deep"),
        ("a = 1\na = 2\n", True, "line 2"),
        ("servers = 3\n", True, "servers is not a table"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_place(
    text: str, toml: bool, says: str
) -> None:
    with pytest.raises(ConfigError, match=r"the file") as caught:
        set_in(text, toml=toml)
    assert says in caught.value.message
    assert "othing is changed" in caught.value.remedy


def test_json_with_comments_says_what_to_do() -> None:
    with pytest.raises(ConfigError) as caught:
        set_in('{\n  // mine\n  "servers": {}\n}')
    assert "line 2, column 3" in caught.value.message
    assert "--print" in caught.value.remedy


def test_a_link_a_mode_and_earlier_copies_stay(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o640)
    link = tmp_path / "mcp.json"
    link.symlink_to(real)
    first = write(link, '{"a": 1}', was="{}")
    second = write(link, '{"a": 2}', was='{"a": 1}')
    assert link.is_symlink() and real.read_text() == '{"a": 2}'
    assert real.stat().st_mode & 0o777 == 0o640
    assert first is not None and first.read_text() == "{}"
    assert second is not None and second.read_text() == '{"a": 1}'
    with pytest.raises(ConfigError, match="changed in the meantime"):
        write(link, "{}", was="{}")
    (tmp_path / "latin").write_bytes(b'{"a": "\xe4"}')
    with pytest.raises(ConfigError, match="byte 7"):
        read(tmp_path / "latin")
    with pytest.raises(ConfigError, match="read or written"):
        read(tmp_path)


@pytest.fixture
def call(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command with a home of its own; the project is a folder in it."""
    (tmp_path / "project").mkdir()
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SWITCHBOARD", "CODEX"))}
    environment = {**kept, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return warm.call(["mcp", "install", *words], environment, folder=tmp_path / "project")

    return run


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_is_told_and_untold(
    call: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, client: str
) -> None:
    config = CLIENTS[client]
    file = tmp_path / ("project" if config.in_project else "") / config.file
    parse: Callable[[str], Any] = tomllib.loads if config.is_toml else json.loads
    shown = call(client, "--print")
    assert shown.returncode == 0 and not file.exists(), shown
    entry = parse(shown.stdout)[config.table]["phone"]
    command, *arguments = program()
    assert (entry["command"], entry["args"]) == (command, [*arguments, "mcp"])
    assert Path(command).is_absolute()

    refused = call(client)
    assert refused.returncode == 2 and "--yes" in refused.stderr and not file.exists()
    written = call(client, "--yes")
    assert written.returncode == 0, written
    assert parse(file.read_text()) == parse(shown.stdout)
    assert "already" in call(client, "--yes").stderr

    changed_to = call(client, "--yes", "--http", "--port", "9000")
    assert changed_to.returncode == 0 and "SWITCHBOARD_MCP_TOKEN" in changed_to.stderr
    entry = parse(file.read_text())[config.table]["phone"]
    assert "http://127.0.0.1:9000/mcp" in entry.values() and "command" not in entry
    assert "SWITCHBOARD_MCP_TOKEN" in json.dumps(entry)

    assert call(client, "--remove", "--yes").returncode == 0
    assert parse(file.read_text()) == ({} if config.is_toml else {config.table: {}})
    assert "has no server" in call(client, "--remove", "--yes").stderr


def test_a_broken_file_is_left_as_it_is(
    call: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{"mcpServers": {}')
    failed = call("cursor", "--yes")
    assert failed.returncode == 2
    assert str(file) in failed.stderr and "line 1, column 18" in failed.stderr
    assert file.read_text() == '{"mcpServers": {}'
    assert list(file.parent.iterdir()) == [file]
