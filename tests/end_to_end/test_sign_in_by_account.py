"""Sign in by an account of an OpenID provider, by the real commands: here, and by TLS."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from support.adb import free_port
from tests.end_to_end.harness import SWITCHBOARD, Call, Running, Workshop, serving, wait_until
from tests.oidc.provider import SECRET, SECRET_CLIENT

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
CODE = re.compile(r"enter the code (\S+)")


class Login:
    """The provider's process, and the person at its web page."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer

    def post(self, path: str, **fields: str) -> None:
        data = urllib.parse.urlencode(fields).encode()
        with urllib.request.urlopen(f"{self.issuer}/test/{path}", data, timeout=30) as answer:
            assert answer.status == 200

    def confirm(self, running: Running, path: str = "allow", **claims: str) -> int:
        """Enter the code that a program shows; returns how the program ended."""
        wait_until(lambda: CODE.search("".join(running.speech)) is not None, "the code")
        found = CODE.search("".join(running.speech))
        assert found is not None
        self.post(path, user_code=found[1], **claims)
        return running.wait()


@pytest.fixture(scope="module")
def login() -> Iterator[Login]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.oidc.provider"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        yield Login(process.stdout.readline().strip())
        process.stdin.close()


class Lab:
    """A core that listens, and ana at her own computer."""

    def __init__(self, shop: Workshop, login: Login, home: Path, port: int) -> None:
        self.shop, self.login, self.port = shop, login, port
        self.home = {"HOME": str(home), "SWITCHBOARD_DATA_DIR": str(home / "data")}
        self.far = {
            **self.home,
            "SWITCHBOARD_CORE_ADDRESS": f"tls://127.0.0.1:{port}",
            "SWITCHBOARD_CORE_CA": str(shop.data.parent / "authority" / "authority.pem"),
        }

    def sign_in(self, more: Mapping[str, str], path: str = "allow", **claims: str) -> Call:
        with self.shop.running("sign-in", **more) as running:
            code = self.login.confirm(running, path, **claims)
        return Call(code, "", "".join(running.speech))

    def tokens(self, home: str | Path) -> list[Path]:
        return [*Path(home).rglob("*.token")]


@pytest.fixture
def lab(workshop: Workshop, login: Login, tmp_path: Path) -> Iterator[Lab]:
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    workshop.environment |= {
        "SWITCHBOARD_OIDC_ISSUER": login.issuer,
        "SWITCHBOARD_OIDC_CLIENT_ID": SECRET_CLIENT,
        "SWITCHBOARD_OIDC_CLIENT_SECRET_FILE": str(secret),
    }
    authority, port = str(tmp_path / "authority"), free_port()
    done = workshop.call("fleet", "authority", "init", authority)
    assert done.code == 0, done
    done = workshop.call("fleet", "authority", "issue", authority, "core", "--name", "127.0.0.1")
    assert done.code == 0, done
    added = workshop.call("operators", "add", "ana", "--may", "drive", "--oidc", "sub-ana")
    assert added.code == 0, added
    [cert] = Path(authority).rglob("core.pem")
    started = workshop.call(
        *("daemon", "start", "--virtual-only", "--listen", f"127.0.0.1:{port}"),
        *("--tls-cert", str(cert), "--tls-key", str(cert.with_suffix(".key"))),
    )
    assert started.code == 0, started
    home = tmp_path / "ana"
    home.mkdir()
    try:
        yield Lab(workshop, login, home, port)
    finally:
        workshop.call("daemon", "stop", "--force")


@contextmanager
def watched(secrets: list[str]) -> Iterator[None]:
    """Look through the command lines of all processes at the end."""
    yield
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        for secret in secrets:
            assert secret not in line


def test_an_account_signs_in_here_and_by_tls_and_is_revoked(lab: Lab) -> None:
    refused = lab.shop.call("sessions", "list")
    assert refused.code != 0
    assert "switchboard sign-in" in refused.err
    done = lab.sign_in({}, sub="sub-ana")
    assert done.code == 0, done
    assert "signed in as ana" in done.err
    listed = lab.shop.call("sessions", "list")
    assert listed.code == 0, listed
    # From her own computer by TLS: a sign-in of its own, and one there after a key was rotated.
    assert lab.shop.call("sessions", "list", **lab.far).code != 0
    lab.login.post("rotate")
    # The core asks for new keys once in ten seconds.
    far = lab.sign_in(lab.far, sub="sub-ana")
    while far.code and "none of its issuer's keys" in far.err:
        far = lab.sign_in(lab.far, sub="sub-ana")
    assert far.code == 0, far
    assert lab.shop.call("sessions", "list", **lab.far).code == 0
    [ours] = lab.tokens(lab.shop.data)
    [theirs] = lab.tokens(lab.home["SWITCHBOARD_DATA_DIR"])
    for file in (ours, theirs):
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.parent.stat().st_mode & 0o777 == 0o700
    shown = lab.shop.call("operators", "list", "--json").json[0]
    assert len(shown["tokens"]) == 2
    with watched([one.read_text().strip() for one in (ours, theirs)] + [SECRET]):
        assert "sign-in" in lab.shop.call("operators", "list").out
    for token in shown["tokens"]:
        revoked = lab.shop.call("operators", "revoke", "ana", "--credential", token["id"])
        assert revoked.code == 0, revoked
    for place in ({}, lab.far):
        assert lab.shop.call("sessions", "list", **place).code != 0
    _no_secret_is_kept(lab, [one.read_text().strip() for one in (ours, theirs)])


def _no_secret_is_kept(lab: Lab, tokens: list[str]) -> None:
    for file in lab.shop.data.rglob("*"):
        if file.is_file() and not file.is_symlink() and file.suffix != ".token":
            data = file.read_bytes()
            for secret in (*tokens, SECRET, "eyJ0eXAi", "access-token-of-the-provider"):
                assert secret.encode() not in data, file


def test_who_is_no_operator_or_refuses_gets_no_token(lab: Lab) -> None:
    for path, claims, said in (
        ("allow", {"sub": "sub-eve"}, "No operator has"),
        ("allow", {"sub": "sub-eve", "email": "ana@example.com"}, "No operator has"),
        ("deny", {}, "denied"),
    ):
        done = lab.sign_in(lab.far, path, **claims)
        assert done.code != 0
        assert said in done.err, done
    assert not lab.tokens(lab.home["SWITCHBOARD_DATA_DIR"])
    assert not lab.shop.call("operators", "list", "--json").json[0]["tokens"]


def test_signing_out_ends_it(lab: Lab) -> None:
    assert lab.sign_in(lab.far, sub="sub-ana").code == 0
    out = lab.shop.call("sign-out", **lab.far)
    assert out.code == 0, out
    assert "signed out" in out.err
    assert not lab.tokens(lab.home["SWITCHBOARD_DATA_DIR"])
    assert not lab.shop.call("operators", "list", "--json").json[0]["tokens"]
    assert "no sign-in" in lab.shop.call("sign-out", **lab.far).err


def test_a_program_shows_the_token_of_a_sign_in_over_http(lab: Lab) -> None:
    assert lab.sign_in({}, sub="sub-ana").code == 0
    [kept] = lab.tokens(lab.shop.data)
    token = kept.read_text().strip()
    with serving(lab.shop, "serve", "--http", "--port", "0") as (url, _):
        for shown, status in ((token, 200), (f"{token}x", 403), ("swb_0_guess", 403)):
            request = urllib.request.Request(
                f"{url}/v1/overview", headers={"Authorization": f"Bearer {shown}"}
            )
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    found = answer.status
            except urllib.error.HTTPError as error:
                found = error.code
            assert found == status


def test_the_console_asks_for_the_sign_in_before_it_draws(lab: Lab) -> None:
    here, there = pty.openpty()
    environment = {**lab.shop.environment, "TERM": "xterm-256color", "COLUMNS": "100"}
    with subprocess.Popen(
        SWITCHBOARD,
        stdin=there,
        stdout=there,
        stderr=there,
        env=environment,
        start_new_session=True,
    ) as process:
        os.close(there)
        shown = bytearray()

        def sees(*words: str) -> bool:
            if select.select([here], [], [], 0.05)[0]:
                # Linux says EIO where the other end was closed.
                with suppress(OSError):
                    shown.extend(os.read(here, 65_536))
            text = shown.decode("utf-8", "replace")
            return all(word in text for word in words)

        try:
            wait_until(lambda: sees("enter the code"), "the code")
            wait_until(lambda: sees("With the code in it"), "the whole message")
            code = CODE.search(shown.decode("utf-8", "replace"))
            assert code is not None
            assert b"\x1b[?1049h" not in shown, "a screen was drawn before the code"
            lab.login.post("allow", user_code=code[1], sub="sub-ana")
            wait_until(lambda: sees("signed in as ana"), "the sign-in")
            wait_until(lambda: sees("\x1b[?1049h", "Sessions"), "the console")
            listed = lab.shop.call("daemon", "status", "--json").json
            assert any(one["operator"] == "ana" for one in listed["clients"])
        finally:
            process.send_signal(signal.SIGTERM)
            while process.poll() is None:
                # A terminal that is not read holds its program up.
                sees()
            os.close(here)
