"""`switchboard login` and `logout` from a shell, against an issuer on loopback."""

import asyncio
import os
import re
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.models.login.test_login import PATIENCE_S, TinyIssuer, tiny_issuer


async def switchboard(home: Path, issuer: TinyIssuer, *args: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from console.cli import main; main()",
        *args,
        env={
            **os.environ,
            "SWITCHBOARD_DATA_DIR": str(home),
            "SWITCHBOARD_MODEL_LOGIN_ISSUER": issuer.url,
            "SWITCHBOARD_MODEL_LOGIN_CLIENT_ID": "switchboard",
        },
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def test_login_shows_an_address_keeps_the_token_and_logout_forgets_it(tmp_path: Path) -> None:
    async with tiny_issuer() as issuer, asyncio.timeout(PATIENCE_S * 4):
        process = await switchboard(tmp_path, issuer, "login", "--no-browser")
        assert process.stderr is not None
        line = (await process.stderr.readline()).decode()
        found = re.search(r"http\S+", line)
        assert found, line
        asked = {n: v[0] for n, v in parse_qs(urlsplit(found[0]).query).items()}
        issuer.challenge, issuer.redirect = asked["code_challenge"], asked["redirect_uri"]
        back = urlsplit(asked["redirect_uri"])
        reader, writer = await asyncio.open_connection(back.hostname, back.port)
        query = urlencode({"state": asked["state"], "code": "good-code"})
        writer.write(f"GET {back.path}?{query} HTTP/1.1\r\n\r\n".encode())
        await reader.read()
        writer.close()
        said = (await process.stderr.read()).decode()
        assert await process.wait() == 0
        assert "Signed in" in said
        assert "first" not in line + said
        assert (tmp_path / "login.json").stat().st_mode & 0o777 == 0o600
        out = await switchboard(tmp_path, issuer, "logout")
        assert await out.wait() == 0
    assert not (tmp_path / "login.json").exists()
    assert issuer.revoked == ["refresh-1"]
