"""Sign in at a core by an account at an OpenID issuer, and keep the token that it gives.

Invariants: the ID token is bound to this core's certificate where the issuer keeps nonces, and is
shown to that core alone; neither token nor secret is printed.
"""

import secrets
from datetime import datetime
from typing import TYPE_CHECKING

from agent.config import Settings
from agent.errors import ConfigError, NotAllowedError, RuntimeDiedError
from console.cli_support.exits import say

if TYPE_CHECKING:
    from agent.oidc.device_flow import DeviceCode
    from agent.rpc.rpc_messages import SignedIn


async def sign_in(settings: Settings) -> "SignedIn | None":
    """Sign in at the settings' core and keep its token; None where it has no operators.

    Raises:
        ConfigError: the settings or the issuer cannot be used.
        NotAllowedError: the person, the issuer or the core refused.
        RuntimeDiedError: no core answers.
    """
    from agent.oidc.claims import nonce_of
    from agent.oidc.device_flow import DeviceFlow
    from agent.oidc.issuer import authorities_of
    from agent.rpc.credentials import IdTokenShown, keep_token, sign_in_file
    from agent.rpc.places import place_of
    from agent.rpc.rpc_client import NOBODY, RpcClient

    said = settings.oidc
    if not said.issuer or not said.client_id:
        raise ConfigError(
            "No OpenID issuer is set.",
            "Set oidc.issuer and oidc.client_id as on the core, or sign in with a key.",
        )
    place = place_of(settings)
    try:
        channel = await RpcClient.channel_of(place)
    except NOBODY as error:
        raise RuntimeDiedError(
            f"No core listens on {place}.", "Start it, or name one: --core tls://HOST:PORT"
        ) from error
    if channel is None:
        return None
    flow = DeviceFlow(
        said.issuer, said.client_id, client_secret=_secret(settings), ca=authorities_of(settings)
    )
    verifier = secrets.token_bytes(32)
    id_token = await flow.id_token(nonce_of(verifier, channel), _show)
    shown = IdTokenShown(id_token, verifier)
    client = await RpcClient.connect(place, name="sign-in", credentials=shown, timeout_s=30)
    await client.close()
    assert client.signed is not None, "who shows an ID token has signed in, or was refused"
    keep_token(sign_in_file(settings), client.signed.token)
    end = datetime.fromtimestamp(client.signed.expires_ms / 1000).astimezone()
    say(f"You are signed in as {client.signed.operator} until {end:%Y-%m-%d %H:%M}.")
    return client.signed


async def sign_out(settings: Settings) -> bool:
    """Revoke the kept sign-in at its core, and forget it; whether there was one.

    Raises RuntimeDiedError: no core answers; it is forgotten all the same, and counts until it
    expires.
    """
    from agent.rpc.credentials import TokenFile, sign_in_file
    from agent.rpc.places import place_of
    from agent.rpc.rpc_client import NOBODY, RpcClient
    from agent.rpc.rpc_messages import Hello, Nothing

    path, place = sign_in_file(settings), place_of(settings)
    if not path.is_file():
        return False
    kept = TokenFile(path)
    try:
        client = await RpcClient.connect(place, name="sign-out", credentials=kept)
        try:
            await client.call("sign_out", Nothing(), Hello)
        finally:
            await client.close()
    except NotAllowedError:
        # It counted no more.
        return True
    except NOBODY as error:
        raise RuntimeDiedError(
            f"No core listens on {place}, so the sign-in stays valid until it expires.",
            "Revoke it: switchboard operators revoke NAME --credential ID",
        ) from error
    finally:
        path.unlink(missing_ok=True)
    return True


async def sign_in_where_asked(settings: Settings) -> None:
    """Sign in where a core is there that refuses what this user has, and an issuer is set."""
    from agent.rpc.remote_core import connect_or_none

    if not settings.oidc.issuer:
        return
    try:
        client = await connect_or_none(settings, name="sign-in")
    except NotAllowedError:
        await sign_in(settings)
    else:
        if client is not None:
            await client.close()


def _show(asked: "DeviceCode") -> None:
    minutes = max(round(asked.lasts_s / 60), 1)
    say(f"Open {asked.url} in a browser and enter the code {asked.code} (within {minutes} min).")
    if asked.whole_url:
        say(f"With the code in it: {asked.whole_url}")


def _secret(settings: Settings) -> str:
    said = settings.oidc.client_secret_file
    if not said:
        return ""
    from pathlib import Path

    from agent.rpc.credentials import read_token

    return read_token(
        settings.config_file.parent / Path(said).expanduser(), "oidc.client_secret_file"
    )
