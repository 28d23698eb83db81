"""The private authority: what it issues, for whom, for how long, and in which files."""

import stat
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography import x509
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ConfigError, SwitchboardError, UsageError
from agent.rpc.places import parse_address
from agent.tls.authority import CERTIFICATE, KEY, end_of, init, issue, listed, now_utc
from console.cli import cli

NOW = now_utc()


def _run(*line: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, list(line))
    return done.exit_code, done.output


def test_every_file_is_of_its_user_alone(tmp_path: Path) -> None:
    ca = tmp_path / "ca"
    assert _run("fleet", "authority", "init", str(ca))[0] == 0
    assert _run("fleet", "authority", "issue", str(ca), "rack-1", "--name", "10.0.0.1")[0] == 0
    assert stat.S_IMODE(ca.stat().st_mode) == 0o700
    files = [one for one in ca.iterdir() if one.is_file()]
    assert {CERTIFICATE, KEY, "rack-1.pem", "rack-1.key"} <= {one.name for one in files}
    assert {stat.S_IMODE(one.stat().st_mode) for one in files} == {0o600}


def test_no_key_is_printed(tmp_path: Path) -> None:
    ca = str(tmp_path / "ca")
    said = _run("fleet", "authority", "init", ca)[1]
    said += _run("fleet", "authority", "issue", ca, "rack-1")[1]
    said += _run("fleet", "authority", "list", ca, "--json")[1]
    assert "PRIVATE" not in said
    assert "BEGIN" not in said


def test_what_is_issued_is_for_its_names_and_signs_nothing(tmp_path: Path) -> None:
    init(tmp_path / "ca", NOW)
    made = issue(tmp_path / "ca", "rack-1", ["Rack-1.lan", "10.0.0.1", "fe80::1"], NOW)
    found = x509.load_pem_x509_certificate(made.certificate.read_bytes())
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["rack-1.lan"]
    assert [str(one) for one in names.get_values_for_type(x509.IPAddress)] == [
        "10.0.0.1",
        "fe80::1",
    ]
    limits = found.extensions.get_extension_for_class(x509.BasicConstraints)
    assert limits.critical
    assert not limits.value.ca
    assert end_of(made.certificate) == NOW + timedelta(days=90)


def test_nothing_outlives_its_authority(tmp_path: Path) -> None:
    ends = init(tmp_path / "ca", NOW, life=timedelta(days=10))
    made = issue(tmp_path / "ca", "rack-1", (), NOW)
    assert end_of(made.certificate) == ends
    with pytest.raises(ConfigError, match="has expired"):
        issue(tmp_path / "ca", "rack-1", (), NOW + timedelta(days=11))


def test_issued_again_it_has_a_new_key_and_number(tmp_path: Path) -> None:
    init(tmp_path / "ca", NOW)
    first = issue(tmp_path / "ca", "rack-1", (), NOW)
    key = first.key.read_bytes()
    second = issue(tmp_path / "ca", "rack-1", (), NOW + timedelta(days=60))
    assert second.key.read_bytes() != key
    assert second.issued.serial != first.issued.serial
    _, found = listed(tmp_path / "ca")
    assert found == (second.issued,)


def test_the_list_says_what_ends_soon(tmp_path: Path) -> None:
    ca = tmp_path / "ca"
    init(ca, NOW - timedelta(days=100))
    issue(ca, "old", (), NOW - timedelta(days=95))
    issue(ca, "soon", (), NOW - timedelta(days=85))
    issue(ca, "fresh", (), NOW)
    told = {
        line.split()[0]: line
        for line in _run("fleet", "authority", "list", str(ca))[1].splitlines()
    }
    assert told["old"].endswith("expired")
    assert told["soon"].endswith("renew it")
    assert told["fresh"].endswith("-")


@pytest.mark.parametrize(
    ("name", "names", "life"),
    [
        ("", (), 90),
        ("../x", (), 90),
        ("/etc/x", (), 90),
        (".hidden", (), 90),
        ("authority", (), 90),
        ("Rack", (), 90),
        ("a b", (), 90),
        ("x" * 64, (), 90),
        ("rack-1", ("*.lan",), 90),
        ("rack-1", ("a b",), 90),
        ("rack-1", ("",), 90),
        ("rack-1", ("-x.lan",), 90),
        ("rack-1", ("x:80",), 90),
        ("rack-1", ("ü.lan",), 90),
        ("rack-1", ("x\n.lan",), 90),
        ("rack-1", (), 0),
        ("rack-1", (), -1),
        ("rack-1", (), 9000),
    ],
)
def test_what_cannot_be_issued_is_refused_and_leaves_nothing(
    tmp_path: Path, name: str, names: tuple[str, ...], life: int
) -> None:
    init(tmp_path / "ca", NOW)
    before = sorted(one.name for one in (tmp_path / "ca").iterdir())
    with pytest.raises(UsageError):
        issue(tmp_path / "ca", name, names, NOW, life=timedelta(days=life))
    assert sorted(one.name for one in (tmp_path / "ca").iterdir()) == before


def test_a_second_authority_does_not_take_the_place_of_the_first(tmp_path: Path) -> None:
    init(tmp_path / "ca", NOW)
    before = (tmp_path / "ca" / KEY).read_bytes()
    with pytest.raises(UsageError, match="already"):
        init(tmp_path / "ca", NOW)
    assert (tmp_path / "ca" / KEY).read_bytes() == before


@pytest.mark.parametrize("harm", ["shared", "key", "other", "list", "nothing"])
def test_an_authority_that_cannot_be_trusted_issues_nothing(tmp_path: Path, harm: str) -> None:
    ca = tmp_path / "ca"
    if harm != "nothing":
        init(ca, NOW)
    match harm:
        case "shared":
            ca.chmod(0o777)
        case "key":
            (ca / KEY).chmod(0o644)
        case "other":
            init(tmp_path / "other", NOW)
            (ca / KEY).write_bytes((tmp_path / "other" / KEY).read_bytes())
        case "list":
            (ca / "issued.json").write_text("{")
    with pytest.raises(ConfigError) as refusal:
        issue(ca, "rack-1", (), NOW)
    assert refusal.value.remedy
    assert not (ca / "rack-1.key").exists()


@given(st.text(max_size=60))
def test_an_address_is_read_or_refused_by_name(text: str) -> None:
    try:
        host, port = parse_address(text, "core.address")
    except UsageError as error:
        assert "core.address" in str(error)
    else:
        assert host
        assert 0 <= port <= 65_535
        assert not set(host) & set(" @/[]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tls://rack-1.lan:8439", ("rack-1.lan", 8439)),
        ("10.0.0.1:1", ("10.0.0.1", 1)),
        ("tls://[fe80::1]:8439/", ("fe80::1", 8439)),
    ],
)
def test_addresses_that_are_read(text: str, expected: tuple[str, int]) -> None:
    assert parse_address(text, "x") == expected


@pytest.mark.parametrize(
    "text",
    ["", "x", "http://x:1", "tcp://x:1", "x:99999", "ana:secret@x:1", "tls://x:1/y", "::1:5"],
)
def test_addresses_that_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not an address"):
        parse_address(text, "core.address")


@pytest.mark.parametrize(
    "line",
    [
        ("store", "check"),
        ("operators", "list"),
        ("audit", "verify"),
        ("daemon", "start"),
        ("daemon", "run"),
        ("daemon", "stop"),
        ("fleet", "hosts"),
    ],
)
def test_what_works_on_this_computer_is_refused_with_a_core_elsewhere(
    tmp_path: Path, line: tuple[str, ...]
) -> None:
    done = CliRunner().invoke(
        cli, ["--data-dir", str(tmp_path), "--core", "tls://rack-1.lan:8439", *line]
    )
    assert isinstance(done.exception, SwitchboardError)
    assert "needs a core on this computer" in str(done.exception)


def test_a_core_elsewhere_and_a_database_are_not_both_named(tmp_path: Path) -> None:
    line = ["--data-dir", str(tmp_path), "--core", "x:1", "--fleet", "postgresql://x/y"]
    done = CliRunner().invoke(cli, [*line, "sessions", "list"])
    assert "are both set" in str(done.exception)
