"""A served phone as an adb client sees it."""

from dataclasses import dataclass

from support.adb import CommandResult, RealAdb
from virtual_phone.phone import Phone
from virtual_phone.server.serve import PhoneHost
from virtual_phone.server.served_phone import ServedPhone
from virtual_phone.userland.userland import Userland


@dataclass
class Connected:
    """A phone as the adb command sees it, and as it is."""

    adb: RealAdb
    host: PhoneHost
    served: ServedPhone

    @property
    def phone(self) -> Phone:
        return self.served.phone

    @property
    def userland(self) -> Userland:
        return self.served.userland

    @property
    def serial(self) -> str:
        return self.served.serial

    async def __call__(self, *words: str, stdin: bytes = b"") -> CommandResult:
        """Run an adb command on the phone."""
        return await self.adb(*words, serial=self.serial, stdin=stdin)

    async def shell(self, line: str, stdin: bytes = b"") -> CommandResult:
        return await self("shell", line, stdin=stdin)
