"""Which store the settings name, and that a database's address is shown to nobody."""

import asyncio
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config import KEYS, Settings, load_settings, parse_setting
from agent.errors import ConfigError, StoreError
from agent.rpc.rpc_messages import socket_path
from agent.rpc.rpc_server import serve
from agent.store.addresses import address, has_password
from agent.store.embedded.sqlite_store import SqliteStore
from console.app import SwitchboardApp
from console.cli import cli
from console.core.core_opening import hold
from console.core.deferred_core import DeferredCore
from console.core.store_choice import host_name, open_store, said_on_the_line
from console.settings.setting_values import value_in_force, write_typed
from tests.console.commands.test_cli import call
from tests.small_core import SmallCore

PASSWORD = "hunter2"
DSN = f"postgresql://someone:{PASSWORD}@db.example/fleet"


def settings(tmp_path: Path, **environ: str) -> Settings:
    return load_settings(environ={"SWITCHBOARD_DATA_DIR": str(tmp_path), **environ})


async def test_without_an_address_the_store_is_the_data_directorys(tmp_path: Path) -> None:
    async with open_store(settings(tmp_path)) as store:
        assert isinstance(store, SqliteStore)
    assert (tmp_path / "switchboard.db").exists()


def test_the_address_stands_in_the_environment_the_settings_or_a_file(tmp_path: Path) -> None:
    assert address(settings(tmp_path, SWITCHBOARD_STORE_DSN=DSN)) == DSN
    (tmp_path / "config.toml").write_text('[store]\ndsn = "@secrets/dsn"\nhost = "rack 1"\n')
    (tmp_path / "secrets").mkdir()
    file = tmp_path / "secrets" / "dsn"
    file.write_text(f"{DSN}\n")
    file.chmod(0o600)
    found = settings(tmp_path)
    assert address(found) == DSN
    assert host_name(found) == "rack 1"
    assert host_name(settings(tmp_path / "other"))


@pytest.mark.parametrize(
    ("text", "mode", "says"),
    [
        (None, 0, "cannot be read"),
        (f"{DSN}\n", 0o644, "contains a password, and other users"),
        (f"host=x password={PASSWORD}", 0o640, "contains a password, and other users"),
        (f"{DSN}\n{DSN}\n", 0o600, "does not hold one line"),
        ("", 0o600, "does not hold one line"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_not_quoted(
    tmp_path: Path, text: str | None, mode: int, says: str
) -> None:
    file = tmp_path / "dsn"
    if text is not None:
        file.write_text(text)
        file.chmod(mode)
    with pytest.raises(ConfigError, match=says) as caught:
        address(settings(tmp_path, SWITCHBOARD_STORE_DSN=f"@{file}"))
    assert str(file) in caught.value.message
    assert caught.value.remedy
    assert PASSWORD not in f"{caught.value} {caught.value.remedy}"


def test_a_file_without_a_password_may_be_read_by_others(tmp_path: Path) -> None:
    file = tmp_path / "dsn"
    file.write_text("service=fleet")
    file.chmod(0o644)
    assert address(settings(tmp_path, SWITCHBOARD_STORE_DSN=f"@{file}")) == "service=fleet"


def test_no_password_stands_on_a_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said_on_the_line(None) is None
    assert said_on_the_line("@dsn") == f"@{tmp_path}/dsn"
    assert said_on_the_line("postgresql://someone@db/fleet") == "postgresql://someone@db/fleet"
    for said in (DSN, f"host=db PASSWORD = {PASSWORD}", "host=db sslpassword=x"):
        with pytest.raises(ConfigError, match="which every user of this computer can read") as one:
            said_on_the_line(said)
        assert PASSWORD not in f"{one.value} {one.value.remedy}"
        assert "@FILE" in one.value.remedy
    with pytest.raises(ConfigError) as refused:
        cli.main(["--fleet", DSN, "sessions", "list"], standalone_mode=False)
    assert PASSWORD not in str(refused.value)


@given(
    role=st.text("abc1.-", min_size=1, max_size=5),
    password=st.text(st.characters(codec="ascii", exclude_characters="@/?#"), min_size=1),
    port=st.sampled_from(["", ":5432", ":1"]),
)
def test_every_password_is_seen_and_a_port_is_none(role: str, password: str, port: str) -> None:
    assert has_password(f"postgresql://{role}:{password}@host{port}/db")
    assert has_password(f"postgresql://{role}@host{port}/db?password={password}")
    assert not has_password(f"postgresql://{role}@host{port}/db?target_session_attrs=read-write")
    assert not has_password(f"postgresql://host{port}/db")
    assert not has_password(f"host=host user={role} dbname=db")


def test_the_value_of_a_secret_key_is_shown_nowhere(tmp_path: Path) -> None:
    found = settings(tmp_path, SWITCHBOARD_STORE_DSN=DSN)
    assert value_in_force(found, "store.dsn") == "set, not shown"
    assert value_in_force(settings(tmp_path), "store.dsn") == ""
    secret = {key.name for key in KEYS.values() if key.is_secret}
    assert secret == {"store.blobs", "store.dsn", "mcp.servers", "notices.channels"}
    for said in (f"{DSN}\0", 5, ["x", DSN]):
        with pytest.raises(ConfigError) as caught:
            load_settings(overrides={"store.dsn": said}, environ={})
        assert PASSWORD not in f"{caught.value} {caught.value.remedy}"
    with pytest.raises(ConfigError) as typed:
        parse_setting("store.dsn", f"{DSN}\n")
    assert PASSWORD not in str(typed.value)
    broken = tmp_path / "broken.toml"
    broken.write_text(f'[store]\ndsn = ["{DSN}"]\n')
    with pytest.raises(ConfigError, match="line 2") as read:
        load_settings(config_file=broken, environ={})
    assert PASSWORD not in f"{read.value} {read.value.remedy}"


def test_a_secret_key_is_not_typed_into_the_console(tmp_path: Path) -> None:
    class App:
        settings = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(tmp_path)})

    with pytest.raises(ConfigError, match="cannot be set here") as caught:
        write_typed(cast(SwitchboardApp, App()), "store.dsn", DSN)
    assert "SWITCHBOARD_STORE_DSN" in caught.value.remedy
    assert PASSWORD not in f"{caught.value} {caught.value.remedy}"
    assert not (tmp_path / "config.toml").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("sessions", "list"),
        ("devices", "list"),
        ("jobs", "list"),
        ("run", "open Settings"),
        ("daemon", "start"),
        ("daemon", "stop"),
        ("fleet", "move", "s1", "rack-1"),
        ("host", "serve"),
    ],
    ids=" ".join,
)
async def test_a_core_on_a_store_of_its_own_does_not_answer_for_a_fleet(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    data = tmp_path / "data"
    async with SqliteStore.open(data) as store, serve(SmallCore(store), socket_path(data)):
        where = ("--data-dir", str(data), "--fleet", "postgresql://db.example/fleet")
        done = await asyncio.to_thread(call, *where, *words)
    assert done.returncode not in (0, None)
    assert f"{data} has a store of its own, but --fleet or store.dsn names a database" in " ".join(
        done.stderr.split()
    )
    assert "leave out --fleet" in done.stderr
    assert "db.example" not in done.stderr


async def test_a_console_on_a_fleet_is_not_attached_to_a_core_on_another_store(
    tmp_path: Path,
) -> None:
    async with SqliteStore.open(tmp_path) as store, serve(SmallCore(store), socket_path(tmp_path)):
        left, coming = asyncio.Event(), DeferredCore()
        coming.wanted.set()
        with pytest.raises(StoreError, match="only one of the two can be used"):
            await hold(coming, settings(tmp_path, SWITCHBOARD_STORE_DSN=DSN), left)
