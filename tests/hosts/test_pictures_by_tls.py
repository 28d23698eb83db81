"""Another computer's pictures come by TLS: from who was verified and proved it, else not at all."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.hosts.picture_lines import PictureLines
from agent.records import FrameStatus, LiveFrame
from agent.rpc.host_door import HostDoor
from agent.rpc.places import host_place
from agent.rpc.tls_listener import Listening
from agent.settings import CoreSettings, ListenSettings, Settings
from agent.tls.authority import CERTIFICATE, IssuedFiles, init, issue, now_utc
from tests.hosts.bench import PHONE, THERE, Rack, serving, soon

HERE = "127.0.0.1"
BOX = {"width_px": 4, "height_px": 8, "max_hz": 30.0}


def settings_of(directory: Path, ca: Path, own: IssuedFiles | None = None) -> Settings:
    listen = (
        ListenSettings()
        if own is None
        else ListenSettings(cert=str(own.certificate), key=str(own.key))
    )
    return Settings(
        data_dir=directory,
        config_file=directory / "settings.toml",
        core=CoreSettings(ca=str(ca / CERTIFICATE)),
        listen=listen,
    )


async def listen(rack: Rack, ca: Path, *names: str, mutual: bool = False) -> tuple[str, ...]:
    made = issue(ca, "rack-2", names or (HERE,), now_utc())
    where = Listening(HERE, 0, made.certificate, made.key, ca / CERTIFICATE if mutual else None)
    return await (await rack.daemon.listen_far(where)).addresses()


async def looked(wire: Callable[[str], str], settings: Settings) -> LiveFrame:
    lines = PictureLines("rack-1", wire, by_tls=lambda said: host_place(settings, said))
    try:
        async with lines.frames(PHONE, **BOX) as frames:
            return await soon(frames)
    finally:
        await lines.close()


@pytest.fixture
def ca(tmp_path: Path) -> Path:
    init(tmp_path / "ca", now_utc())
    return tmp_path / "ca"


async def test_pictures_come_by_tls(tmp_path: Path, ca: Path) -> None:
    async with serving(tmp_path) as rack:
        addresses = await listen(rack, ca)
        assert all(one.startswith(f"tls://{HERE}:") for one in addresses)
        # The socket of that name is another computer's, and so is not there.
        wire = rack.door.wire(f"unix:{tmp_path}/elsewhere.sock", *addresses)
        shown = await looked(lambda _: wire, settings_of(tmp_path, ca))
        assert shown.rgb
        assert shown.serial == PHONE


async def test_a_host_shows_its_own_certificate_where_it_is_asked_for(
    tmp_path: Path, ca: Path
) -> None:
    async with serving(tmp_path) as rack:
        wire = rack.door.wire(*await listen(rack, ca, mutual=True))
        own = issue(ca, "rack-1", [HERE], now_utc())
        assert (await looked(lambda _: wire, settings_of(tmp_path, ca, own))).rgb
        refused = await looked(lambda _: wire, settings_of(tmp_path, ca))
        assert refused.status is FrameStatus.LOST
        assert not refused.rgb


async def test_another_authority_another_name_and_another_secret_show_nothing(
    tmp_path: Path, ca: Path
) -> None:
    init(tmp_path / "other", now_utc())
    async with serving(tmp_path) as rack:
        addresses = await listen(rack, ca)
        wire = rack.door.wire(*addresses)
        untrusted = await looked(lambda _: wire, settings_of(tmp_path, tmp_path / "other"))
        assert untrusted.status is FrameStatus.LOST
        assert "not signed by the authority" in untrusted.detail
        renamed = rack.door.wire(*(one.replace(HERE, "localhost") for one in addresses))
        assert "another name" in (await looked(lambda _: renamed, settings_of(tmp_path, ca))).detail
        stranger = HostDoor(THERE, rack.phones).wire(*addresses)
        assert (await looked(lambda _: stranger, settings_of(tmp_path, ca))).status is (
            FrameStatus.LOST
        )
        for odd in ("tls://", "tls://x", "tls://a@b:1", "tcp://x:1", "unix:x"):
            assert (
                await looked(lambda _, odd=odd: rack.door.wire(odd), settings_of(tmp_path, ca))
            ).status is FrameStatus.LOST
