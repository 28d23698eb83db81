"""Settings: four layers in order, and errors that say where, what and what instead."""

import math
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.config import DEFAULT_MODEL, KEYS, PILOT, Settings, load_settings, write_setting
from agent.errors import ConfigError

PIECES = ["[model]", "[run]", "[[run]]", "model.name", "max_steps", "'x'", '"""', "1979-05-27"]
PIECES += ["=", "3", "{", "}", "[", "]", "\n", "1e999", "#", ".", "0x", "true", "\t"]


def load(directory: Path, text: str = "", **environ: str) -> Settings:
    (directory / "config.toml").write_text(text, encoding="utf-8")
    return load_settings(environ={"SWITCHBOARD_DATA_DIR": str(directory), **environ})


def test_without_anything_said_every_key_has_its_default(tmp_path: Path) -> None:
    loaded = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(tmp_path)})
    assert loaded.data_dir == tmp_path
    assert loaded.config_file == tmp_path / "config.toml"
    assert (loaded.model.name, loaded.model.timeout_s) == (PILOT, 45.0)
    assert (loaded.run.max_steps, loaded.run.max_total_steps) == (30, 100)
    assert loaded.recovery.device_grace_s == 120.0
    assert loaded.adb.server == ("127.0.0.1:5037",)


def test_lists_of_words_are_no_addresses(tmp_path: Path) -> None:
    text = (
        "[notices]\ncommand = ['notify', '--to:0']\n[pool]\nserials = ['R5CT', '10.0.0.7:5555']\n"
    )
    loaded = load(tmp_path, text, SWITCHBOARD_LOOP_WITHOUT="masking, bans")
    assert loaded.notices.command == ("notify", "--to:0")
    assert loaded.loop.without == ("masking", "bans")
    assert loaded.pool.serials == ("R5CT", "10.0.0.7:5555")
    with pytest.raises(ConfigError, match=r"loop\.without"):
        load(tmp_path, "[loop]\nwithout = ['safety']\n")


def test_each_layer_is_stronger_than_the_one_before(tmp_path: Path) -> None:
    file = "[run]\nmax_steps = 7\n[adb]\nserver = '10.0.0.1:5037'\n"
    environ = {"SWITCHBOARD_DATA_DIR": str(tmp_path), "ANDROID_ADB_SERVER_PORT": "6000"}
    assert load_settings(environ=environ).adb.server == ("127.0.0.1:6000",)
    (tmp_path / "config.toml").write_text(file)
    assert load_settings(environ=environ).adb.server == ("10.0.0.1:5037",)
    assert load_settings(environ=environ).run.max_steps == 7
    environ["SWITCHBOARD_RUN_MAX_STEPS"] = "8"
    assert load_settings(environ=environ).run.max_steps == 8
    said = {"run.max_steps": 9, "model.name": None}
    assert load_settings(environ=environ, overrides=said).run.max_steps == 9


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"ADB_SERVER_SOCKET": "tcp:5038"}, ("127.0.0.1:5038",)),
        ({"ADB_SERVER_SOCKET": "tcp:box:5038", "ANDROID_ADB_SERVER_PORT": "1"}, ("box:5038",)),
        ({"ANDROID_ADB_SERVER_PORT": "5"}, ("127.0.0.1:5",)),
        (
            {"ANDROID_ADB_SERVER_PORT": "5", "ANDROID_ADB_SERVER_ADDRESS": "10.0.0.2"},
            ("10.0.0.2:5",),
        ),
        ({"SWITCHBOARD_ADB_SERVER": "a:1, [::1]:2"}, ("a:1", "[::1]:2")),
    ],
)
def test_the_adb_server_is_where_adbs_own_variables_say(
    tmp_path: Path, environ: dict[str, str], expected: tuple[str, ...]
) -> None:
    assert load(tmp_path, **environ).adb.server == expected


def test_a_key_or_an_endpoint_turns_the_pilot_off_and_a_name_always_wins(tmp_path: Path) -> None:
    assert load(tmp_path).model.name == PILOT
    assert load(tmp_path, OPENAI_API_KEY="k").model.name == DEFAULT_MODEL
    assert load(tmp_path, OPENAI_BASE_URL="http://127.0.0.1:1/v1").model.name == DEFAULT_MODEL
    text = "[model]\nname = 'pilot'\napi_key_env = 'MY_KEY'\n"
    assert load(tmp_path, text, MY_KEY="k").model.name == PILOT
    assert load(tmp_path, "[model]\napi_key_env = 'MY_KEY'\n", MY_KEY="k").model.name == (
        DEFAULT_MODEL
    )


def test_the_data_directory_moves_the_settings_file_too(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[ui]\nbell = false\n")
    assert not load_settings(environ={}, overrides={"data_dir": tmp_path}).ui.bell
    elsewhere = tmp_path / "other.toml"
    elsewhere.write_text("data_dir = 'phones'\n")
    assert load_settings(environ={}, config_file=elsewhere).data_dir == tmp_path / "phones"
    environ = {"SWITCHBOARD_CONFIG": str(elsewhere), "SWITCHBOARD_DATA_DIR": str(tmp_path / "d")}
    assert load_settings(environ=environ).data_dir == tmp_path / "d"


def test_without_a_data_directory_the_platforms_own_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    loaded = load_settings(environ={})
    assert tmp_path in loaded.data_dir.parents
    assert tmp_path in loaded.config_file.parents
    assert loaded.config_file.name == "config.toml"


@pytest.mark.parametrize(
    ("text", "line", "key", "remedy"),
    [
        ("[run]\n\nmax_stepz = 3\n", 3, "run.max_stepz", "run.max_steps"),
        ("[run]\nmax_steps = 'three'\n", 2, "run.max_steps", "default is 30"),
        ("[run]\nmax_steps = 0\n", 2, "run.max_steps", "default is 30"),
        ("# a\n[run]\nmax_steps = true\n", 3, "run.max_steps", "default is 30"),
        ("[model]\ntimeout_s = nan\n", 2, "model.timeout_s", "default is 45"),
        ("[model]\ntimeout_s = inf\n", 2, "model.timeout_s", "default is 45"),
        ("[model]\nbase_url = 'ftp://x'\n", 2, "model.base_url", "endpoint"),
        ("[adb]\nserver = ['nonsense']\n", 2, "adb.server", "host:port"),
        ("[adb]\nserver = 'a:99999'\n", 2, "adb.server", "host:port"),
        ("[adb]\nserver = []\n", 2, "adb.server", "host:port"),
        ("\nmodel.nmae = 'x'\n", 2, "model.nmae", "model.name"),
        ("zzzz = 1\n", 1, "'zzzz'", "The keys are"),
        ("[modle]\nname = 'x'\n", 1, "modle", "model"),
        ("model = 3\n", 1, "model", "[model]"),
        ("model = { nmae = 'x' }\n", 1, "model.nmae", "model.name"),
        ("max_steps = 3\n", 1, "max_steps", "run.max_steps"),
        ("[ui]\nbell = 1979-05-27\n", 2, "ui.bell", "default is true"),
        ("[ui]\nbell =\n", 2, "", "Correct"),
        ("[ui\nbell = true\n", 1, "", "Correct"),
    ],
)
def test_a_broken_file_names_file_line_key_and_remedy(
    tmp_path: Path, text: str, line: int, key: str, remedy: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert f"{tmp_path / 'config.toml'} line {line}" in caught.value.message
    assert key in caught.value.message
    assert remedy in caught.value.remedy


def test_what_is_no_text_or_no_file_is_a_clear_error(tmp_path: Path) -> None:
    environ = {"SWITCHBOARD_DATA_DIR": str(tmp_path)}
    (tmp_path / "config.toml").write_bytes(b"# fine\n# \xff\n")
    with pytest.raises(ConfigError, match="line 2 is not UTF-8"):
        load_settings(environ=environ)
    with pytest.raises(ConfigError, match="could not be read"):
        load_settings(environ=environ, config_file=tmp_path)
    with pytest.raises(ConfigError, match="There is no settings file"):
        load_settings(environ={"SWITCHBOARD_CONFIG": str(tmp_path / "none.toml")})
    with pytest.raises(ConfigError, match="home directory"):
        load_settings(environ={"SWITCHBOARD_DATA_DIR": "~nobody-of-this-name/x"})


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SWITCHBOARD_RUN_MAX_STEPS", "many"),
        ("SWITCHBOARD_UI_BELL", "perhaps"),
        ("SWITCHBOARD_MODEL_TIMEOUT_S", "nan"),
        ("SWITCHBOARD_MODEL_NAME", "a\x1b[31m"),
        ("ADB_SERVER_SOCKET", "localabstract:adb"),
        ("ADB_SERVER_SOCKET", "tcp:abc"),
        ("ANDROID_ADB_SERVER_PORT", "x"),
        ("OPENAI_BASE_URL", "nowhere"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(tmp_path: Path, variable: str, value: str) -> None:
    with pytest.raises(ConfigError, match=variable) as caught:
        load(tmp_path, **{variable: value})
    assert caught.value.remedy
    assert "\x1b" not in str(caught.value)


def test_an_unknown_override_is_refused_with_the_nearest_key() -> None:
    with pytest.raises(ConfigError, match=r"run\.max_step'") as caught:
        load_settings(environ={}, overrides={"run.max_step": 3})
    assert "run.max_steps" in caught.value.remedy


def test_every_key_is_described_and_set_by_its_variable(tmp_path: Path) -> None:
    for key in KEYS.values():
        assert key.description.endswith("."), key.name
    said = {"SWITCHBOARD_RECOVERY_AUTO_RESUME": "true", "SWITCHBOARD_UI_FRAME_HZ": "2.5"}
    loaded = load(tmp_path, **said)
    assert loaded.recovery.auto_resume
    assert loaded.ui.frame_hz == 2.5


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
)
def test_any_file_gives_settings_or_a_config_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text, encoding="utf-8", errors="replace", newline="")
    try:
        load_settings(environ={"SWITCHBOARD_DATA_DIR": str(tmp_path)})
    except ConfigError as error:
        assert str(file) in error.message
        assert error.remedy


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "run.max_steps": st.integers(1, 10_000),
            "model.timeout_s": st.floats(0.001, 86_400, allow_nan=False),
            "model.name": st.text(
                st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=20
            ),
            "ui.bell": st.booleans(),
            "adb.server": st.lists(
                st.tuples(st.sampled_from(["a", "10.0.0.1", "[::1]"]), st.integers(1, 65_535)).map(
                    lambda pair: f"{pair[0]}:{pair[1]}"
                ),
                min_size=1,
                max_size=3,
            ).map(tuple),
        },
    )
)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, object]
) -> None:
    directory = tmp_path_factory.mktemp("written")
    for name, value in values.items():
        write_setting(directory / "config.toml", name, value)
    loaded = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(directory)})
    for name, value in values.items():
        section, _, key = name.partition(".")
        found = getattr(getattr(loaded, section), key)
        assert found == value or math.isclose(found, value)  # type: ignore[arg-type]


def test_writing_a_key_keeps_comments_and_everything_else(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("# mine\n[ui]\nbell = false  # quiet\n\n[run]\nmax_steps = 5\n")
    write_setting(file, "ui.theme", "night")
    written = file.read_text()
    assert "# mine" in written
    assert "bell = false  # quiet" in written
    parsed = tomllib.loads(written)
    assert parsed == {"ui": {"bell": False, "theme": "night"}, "run": {"max_steps": 5}}
    with pytest.raises(ConfigError):
        write_setting(file, "ui.frame_hz", 1000)
    with pytest.raises(ConfigError, match="no setting"):
        write_setting(file, "ui.colour", "red")
    file.write_text("[ui\n")
    with pytest.raises(ConfigError, match="not TOML"):
        write_setting(file, "ui.theme", "day")
    assert file.read_text() == "[ui\n"


def test_the_token_in_a_file_is_shown_to_no_core_but_the_files(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        '[core]\naddress = "tls://mine.example:7777"\n[operator]\ntoken_file = "token"\n'
    )
    env = {"SWITCHBOARD_DATA_DIR": str(tmp_path)}

    def token_file(core: str | None, **more: str) -> str:
        said = {"core.address": core}
        return load_settings(overrides=said, environ=env | more).operator.token_file

    assert token_file(None) == token_file("tls://mine.example:7777") == "token"
    assert token_file("tls://other.example:7777") == ""
    assert token_file(None, SWITCHBOARD_CORE_ADDRESS="tls://other.example:7777") == ""
    own = {"SWITCHBOARD_OPERATOR_TOKEN_FILE": "its-token"}
    assert token_file("tls://other.example:7777", **own) == "its-token"
