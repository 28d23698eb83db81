"""`switchboard notices`: a message by a channel of the settings, and what is wrong with one."""

import asyncio
import json
from pathlib import Path

from click.testing import CliRunner

from agent.errors import SwitchboardError, UsageError, WebError
from console.cli import cli
from tests.channels.ntfy_server import ntfy_server
from tests.channels.scene import TOPIC


async def test_a_channel_is_listed_and_tried_from_the_shell(tmp_path: Path) -> None:
    async with ntfy_server() as server:
        config = _settings(tmp_path, server.url)

        async def run(*words: str) -> tuple[object, str]:
            args = ["--config", str(config), "--data-dir", str(tmp_path / "data"), "notices"]
            result = await asyncio.to_thread(CliRunner().invoke, cli, [*args, *words])
            is_fault = isinstance(result.exception, SwitchboardError)
            return (type(result.exception) if is_fault else result.exit_code), (
                str(result.exception) if is_fault else result.output
            )

        code, said = await run("test", "ana")
        assert code == 0 and "takes answers of ana" in said
        (message,) = server.of(TOPIC)
        assert message["title"] == "Switchboard" and "channel ana" in message["message"]
        code, said = await run("list", "--json")
        found = {one["name"]: one["trouble"] for one in json.loads(said)}
        assert found["ana"] == "" and "chmod 600" in found["open"]
        assert "can be guessed" in found["short"] and "must be reached by https" in found["plain"]
        code, said = await run("test", "nobody")
        assert code is UsageError and "no channel 'nobody'" in said
        server.is_down = True
        code, said = await run("test", "ana")
        assert code is WebError and "status 503" in said and TOPIC not in said


def _settings(folder: Path, url: str) -> Path:
    lines = []
    for name, topic, mode, address in (
        ("ana", TOPIC, 0o600, url),
        ("open", TOPIC, 0o644, url),
        ("short", "alerts", 0o600, url),
        ("plain", TOPIC, 0o600, "http://ntfy.example.com"),
    ):
        file = folder / f"{name}.topic"
        file.write_text(topic)
        file.chmod(mode)
        lines += [
            f"[notices.channels.{name}]",
            f'kind = "ntfy"\noperator = "ana"\nurl = "{address}"\nsecret_file = "{name}.topic"',
        ]
    path = folder / "config.toml"
    path.write_text("\n".join(lines))
    return path
