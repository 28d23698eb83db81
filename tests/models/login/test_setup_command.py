"""`switchboard models setup` from a shell: a key, a server of this machine, and what is refused."""

import asyncio
import os
import socket
import sys
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from msgspec.structs import replace

from agent.errors import ModelError
from agent.models.catalog import catalog
from agent.models.local_servers import find_servers, server_at
from tests.end_to_end import warm
from tests.models.login.test_login import TinyIssuer, tiny_issuer
from tests.openai_server import Reply, openai_server, tool

PATIENCE_S = 60


async def setup(home: Path, *args: str, stdin: str = "", **environ: str) -> tuple[int, str]:
    """Run the command; return its exit status and all that it said."""
    kept = {k: v for k, v in os.environ.items() if not k.endswith(("_API_KEY", "_BASE_URL"))}
    environment = {**kept, "SWITCHBOARD_DATA_DIR": str(home), **environ}
    done = await asyncio.to_thread(
        warm.call, ["models", "setup", *args], environment, typed=stdin, bound_s=PATIENCE_S
    )
    return done.returncode, done.stdout + done.stderr


def written(home: Path) -> dict[str, Any]:
    return tomllib.loads((home / "config.toml").read_text())["model"]


async def test_a_server_of_this_machine_is_tried_and_kept(tmp_path: Path) -> None:
    async with openai_server([Reply(tools=(tool("wait", seconds=0),))]) as server:
        status, said = await setup(tmp_path, "ollama", "--url", server.base_url, "--model", "other")
    assert status == 0, said
    assert server.requests[0]["model"] == "other"
    assert written(tmp_path) == {"name": "ollama/other", "base_url": server.base_url}
    assert "called its tool" in said


async def test_a_server_that_hangs_is_told_from_one_that_is_not_there() -> None:
    async def hang(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await released.wait()
        writer.close()

    released = asyncio.Event()
    kinds = [preset for preset in catalog().presets.values() if preset.local][:3]
    hanging = await asyncio.start_server(hang, "127.0.0.1", 0)
    with socket.socket() as refusing:
        # Bound and not listening: whoever connects is refused.
        refusing.bind(("127.0.0.1", 0))
        async with hanging, openai_server([]) as server:
            ports = (hanging.sockets[0].getsockname()[1], refusing.getsockname()[1])
            places = [*(f"http://127.0.0.1:{port}/v1" for port in ports), server.base_url]
            asked = [
                replace(preset, base_url=place) for preset, place in zip(kinds, places, strict=True)
            ]
            found = await find_servers(asked)
            released.set()
    assert found.silent == (asked[0],)
    assert [one.preset for one in found.servers] == [asked[2]]


async def test_a_model_that_calls_no_tool_is_not_kept(tmp_path: Path) -> None:
    async with openai_server([Reply(text="Hello!")] * 2) as server:
        status, said = await setup(tmp_path, "vllm", "--url", server.base_url)
    assert (status, (tmp_path / "config.toml").exists()) == (1, False)
    assert "nothing was saved" in said


async def test_an_endpoint_that_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    async with openai_server([Reply(status=500)]) as server:
        status, said = await setup(tmp_path, "ollama", "--url", server.base_url)
    assert (status, (tmp_path / "config.toml").exists()) == (1, False), said
    assert "Nothing was saved." in said


async def test_a_key_from_stdin_is_kept_in_a_private_file_and_never_shown(tmp_path: Path) -> None:
    key = "gsk-1234567890"
    args = ("groq", "--model", "llama-3.3-70b-versatile", "--no-test", "--in-file")
    status, said = await setup(tmp_path, *args, stdin=f"{key}\n")
    assert status == 0, said
    assert key not in said
    file = tmp_path / "keys.toml"
    assert tomllib.loads(file.read_text()) == {"api.groq.com": key}
    assert file.stat().st_mode & 0o777 == 0o600
    assert written(tmp_path) == {"name": "groq/llama-3.3-70b-versatile"}


async def test_an_address_from_the_environment_does_not_lead_the_key_elsewhere(
    tmp_path: Path,
) -> None:
    args = ("anthropic", "--no-test", "--in-file")
    status, said = await setup(
        tmp_path, *args, stdin="sk-ant\n", OPENAI_BASE_URL="http://127.0.0.1:9/v1"
    )
    assert status == 0, said
    assert written(tmp_path) == {
        "name": catalog().presets["anthropic"].default,
        "base_url": "https://api.anthropic.com/v1",
    }


async def test_a_login_is_tried_at_its_endpoint_and_kept(tmp_path: Path) -> None:
    reply = Reply(tools=(tool("wait", seconds=0),))
    async with tiny_issuer() as issuer, openai_server([reply]) as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "from console.cli import main; main()",
            *("models", "setup", "--login", "--url", server.base_url, "--model", "other"),
            env={
                **os.environ,
                "BROWSER": "true",
                "SWITCHBOARD_DATA_DIR": str(tmp_path),
                "SWITCHBOARD_MODEL_LOGIN_ISSUER": issuer.url,
                "SWITCHBOARD_MODEL_LOGIN_CLIENT_ID": "switchboard",
            },
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stderr is not None
        async with asyncio.timeout(PATIENCE_S):
            await come_back(issuer, (await process.stderr.readline()).decode())
            said = (await process.stderr.read()).decode()
            assert await process.wait() == 0, said
        assert server.requests[0]["model"] == "other"
    kept = written(tmp_path)
    assert (kept["name"], kept["base_url"]) == ("other", server.base_url)
    assert "answered in" in said


async def come_back(issuer: TinyIssuer, line: str) -> None:
    """Sign in as the browser does that was sent to the address in a line."""
    asked = parse_qs(urlsplit(line.split()[-1]).query)
    issuer.challenge, issuer.redirect = asked["code_challenge"][0], asked["redirect_uri"][0]
    back = urlsplit(issuer.redirect)
    reader, writer = await asyncio.open_connection(back.hostname, back.port)
    query = urlencode({"state": asked["state"][0], "code": "good-code"})
    writer.write(f"GET {back.path}?{query} HTTP/1.1\r\n\r\n".encode())
    await reader.read()
    writer.close()


async def test_what_is_missing_is_named(tmp_path: Path) -> None:
    for args, words in (
        ((), "Name the provider"),
        (("nobody",), "Use one of openai, anthropic"),
        (("groq",), "Create one at https://console.groq.com/keys"),
        (("groq", "--url", "http://127.0.0.1:9/v1"), "--url is for local servers"),
        (
            ("lmstudio", "--url", "http://127.0.0.1:9/v1"),
            "LM Studio was not found: http://127.0.0.1:9/v1 cannot",
        ),
        (("--login",), "model.login_issuer"),
    ):
        status, said = await setup(tmp_path, *args)
        assert (status, words in said) == (2, True), (args, said)
    assert not (tmp_path / "config.toml").exists()


async def test_a_port_on_which_something_else_listens_is_no_model_server() -> None:
    preset = catalog().presets["llamacpp"]
    async with openai_server([]) as server:
        found = await server_at(preset, server.base_url)
        assert found.models == ("gpt-5-mini", "other")
        server.models_page = b"<html>hello</html>"
        with pytest.raises(ModelError, match="is not an OpenAI-compatible endpoint"):
            await server_at(preset, server.base_url)
    with pytest.raises(ModelError, match="cannot be reached"):
        await server_at(preset, "http://127.0.0.1:9/v1")
