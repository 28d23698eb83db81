"""Make the channels that the settings name, and run them beside a core.

Invariant: a channel that cannot be made is logged and left out; the core and the others go on.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Protocol

from agent.channels.answers import Answers
from agent.channels.apprise_services import AppriseChannel
from agent.channels.bell import BellChannel
from agent.channels.channel import Channel
from agent.channels.dispatch import Dispatch
from agent.channels.http_listener import HttpReply, HttpRequest, listening
from agent.channels.ntfy import NtfyChannel
from agent.channels.people import People
from agent.channels.secret_files import read_secret
from agent.channels.signature import key_of
from agent.channels.telegram import TelegramChannel
from agent.channels.webhook import PATH, WebhookChannel
from agent.consent.bound_answer import AnswerTokens
from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.errors import ConfigError
from agent.operators.door import Door
from agent.operators.visibility import GuardedCore
from agent.records import DeviceInfo
from agent.settings import ChannelKind, Settings

FINISH_S = 5.0
"""How long the last digests may take as the core ends."""
_log = logging.getLogger(__name__)


class ShowsNotices(Protocol):
    """What has notices shown; see `agent.notices.notice_service`."""

    def add(self, sink: Dispatch) -> None:
        """Show notices by a sink too, beginning with what waits now."""


def make_channel(
    name: str,
    settings: Settings,
    clock_ms: Callable[[], int],
    phones: Callable[[], Iterable[DeviceInfo]] = tuple,
) -> Channel:
    """Return a channel of the settings. Raises ConfigError: it cannot be used.

    Args:
        name: its name in the settings; relative paths begin at the settings file.
        settings: with the channel, and the adb server of a bell.
        clock_ms: milliseconds since the epoch.
        phones: lists the phones that agents may drive; a bell must be none of them.
    """
    said, folder = settings.notices.channels[name], settings.config_file.parent
    if said.kind is ChannelKind.BELL:
        return BellChannel(
            name,
            said.operator,
            serial=said.phone,
            client=AdbClient(ServerAddress.parse(settings.adb.server[0])),
            phones=phones,
        )
    named = f"notices.channels.{name}.secret_file"
    secret = read_secret(folder / Path(said.secret_file).expanduser(), named)
    match said.kind:
        case ChannelKind.NTFY:
            access = said.token_file and read_secret(
                folder / Path(said.token_file).expanduser(), f"notices.channels.{name}.token_file"
            )
            return NtfyChannel(name, said.operator, url=said.url, topic=secret, access_token=access)
        case ChannelKind.TELEGRAM:
            return TelegramChannel(
                name, said.operator, url=said.url, bot_token=secret, user=said.user
            )
        case ChannelKind.WEBHOOK:
            key = key_of(secret, named)
            return WebhookChannel(name, said.operator, url=said.url, key=key, clock_ms=clock_ms)
        case ChannelKind.APPRISE:
            return AppriseChannel(name, said.operator, addresses=secret)


def channels_of(
    settings: Settings, clock_ms: Callable[[], int], phones: Callable[[], Iterable[DeviceInfo]]
) -> list[Channel]:
    """Return the channels of the settings that can be used; the others are logged."""
    made = []
    for name in settings.notices.channels:
        try:
            made.append(make_channel(name, settings, clock_ms, phones))
        except ConfigError as error:
            _log.warning("The channel %s is not used: %s", name, error)
    return made


@asynccontextmanager
async def running_channels(
    settings: Settings,
    core: GuardedCore,
    door: Door,
    shows: ShowsNotices,
    clock_ms: Callable[[], int],
) -> AsyncIterator[Dispatch | None]:
    """Run the channels of the settings for the length of the block; None where there are none.

    Raises ConfigError: `notices.listen` cannot be listened on.
    """
    channels = channels_of(settings, clock_ms, core.phones)
    if not channels:
        yield None
        return
    for channel in channels:
        if channel.operator and door.is_shut and door.register.find(channel.operator) is None:
            _log.warning(
                "The channel %s tells nobody: there is no operator %s. "
                "Add them: switchboard operators add %s",
                *(channel.name, channel.operator, channel.operator),
            )
    people = People(core, door)
    tokens = AnswerTokens(settings.data_dir, clock_ms)
    answers = Answers(people, tokens)
    dispatch = Dispatch(channels, people, answers, settings.notices, clock_ms, core.blob)
    tasks = [asyncio.create_task(dispatch.run(), name="notices by channels")]
    for channel in channels:
        if channel.operator and channel.takes_answers:
            work = dispatch.listen(channel)
            tasks.append(asyncio.create_task(work, name=f"answers by {channel.name}"))
    for task in tasks:
        task.add_done_callback(_log_failure)
    try:
        async with AsyncExitStack() as stack:
            if settings.notices.listen:
                host, _, port = settings.notices.listen.rpartition(":")
                door_of = webhook_door(channels)
                await stack.enter_async_context(listening(host.strip("[]"), int(port), door_of))
            shows.add(dispatch)
            yield dispatch
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(FINISH_S):
                await dispatch.finish()
        for channel in channels:
            await channel.close()


def webhook_door(channels: list[Channel]) -> Callable[[HttpRequest], Awaitable[HttpReply]]:
    """Return what answers the requests of webhooks, each at its own path."""
    by_path = {f"{PATH}{one.name}": one for one in channels if isinstance(one, WebhookChannel)}

    async def answer(request: HttpRequest) -> HttpReply:
        channel = by_path.get(request.path)
        return HttpReply(404, b"{}") if channel is None else await channel.answer(request)

    return answer


def _log_failure(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("%s failed: %s: %s", task.get_name(), type(error).__name__, error)
