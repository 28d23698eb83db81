"""Show messages by any service that Apprise knows, one way.

Its addresses (`mailto://…`, `slack://…`) hold the credentials, so they stand in the secret file,
one a line. Invariant: nothing of an address is in an error.
"""

import asyncio
from typing import TYPE_CHECKING

from agent.channels.channel import Message, Take
from agent.channels.urgency import Urgency
from agent.errors import ConfigError, WebError
from agent.extras import install, is_installed, missing

if TYPE_CHECKING:
    from apprise import Apprise

TIMEOUT_S = 60.0


class AppriseChannel:
    """Services of one person.

    Args:
        name: of the channel in the settings.
        operator: the name of the person who is told.
        addresses: of the services, one a line.
    """

    kind = "apprise"
    takes_answers = False
    most_bytes = 3_000

    def __init__(self, name: str, operator: str, *, addresses: str) -> None:
        if not is_installed("apprise"):
            raise ConfigError(missing("apprise"), install("apprise"))
        self.name = name
        self.operator = operator
        self._addresses = tuple(filter(None, map(str.strip, addresses.splitlines())))
        self._services: Apprise | None = None

    async def send(self, message: Message) -> None:
        from apprise import NotifyFormat, NotifyType

        services = await asyncio.to_thread(self._opened)
        kind = NotifyType.WARNING if message.urgency is Urgency.URGENT else NotifyType.INFO
        try:
            async with asyncio.timeout(TIMEOUT_S):
                is_sent = await services.async_notify(
                    body=message.text or message.title,
                    title=message.title,
                    notify_type=kind,
                    body_format=NotifyFormat.TEXT,
                )
        except TimeoutError as error:
            raise WebError(f"A service of {self.name} did not answer in time.") from error
        if not is_sent:
            raise WebError(
                f"A service of {self.name} did not accept the message.",
                f"Check the addresses in notices.channels.{self.name}.secret_file.",
            )

    async def send_picture(self, message: Message, png: bytes) -> None:
        """Send nothing: which services take pictures differs."""

    async def withdraw(self, message: Message, why: str, *, is_own: bool) -> None:
        """Say nothing: a service that only shows has shown it."""

    async def listen(self, take: Take) -> None:
        """Wait: nothing comes back."""
        await asyncio.Event().wait()

    async def close(self) -> None:
        """Do nothing: no connection is kept."""

    def _opened(self) -> "Apprise":
        """Return the services. Raises ConfigError: no service takes an address."""
        if self._services is None:
            import apprise

            services = apprise.Apprise()
            for number, address in enumerate(self._addresses, start=1):
                if not services.add(address):
                    raise ConfigError(
                        f"Line {number} of notices.channels.{self.name}.secret_file is not the "
                        "address of a service.",
                        "Write it as Apprise names it, for example mailto://user:password@host.",
                    )
            self._services = services
        return self._services
