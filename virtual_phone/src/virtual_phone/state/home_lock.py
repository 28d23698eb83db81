"""The claim on a phone's directory: one process at a time lets a phone live in it.

Not the state itself (`persistence`). Invariant: the claim lasts exactly as long as its holder,
however that dies, because the kernel drops it with the open file.
"""

import asyncio
import fcntl
import os
from pathlib import Path

from virtual_phone.errors import PhoneError

FILE_NAME = "claim"


PATIENCE_S = 5.0  # How long a phone that is just ending may take to let go.
_LOOK_S = 0.02


async def claim(home: Path) -> "Claim":
    """Claim a phone's directory, waiting a moment for a holder that is just ending.

    Raises PhoneError when the holder stays, or the directory cannot be written.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + PATIENCE_S
    while True:
        try:
            return Claim(home)
        except HeldError:
            if clock() > deadline:
                raise
        await asyncio.sleep(_LOOK_S)


class HeldError(PhoneError):
    """Another process has the phone."""


class Claim:
    """Hold a phone's directory until `release`.

    Args:
        home: the phone's own directory; made when missing.

    Raises:
        HeldError: another process has the phone.
        PhoneError: the directory cannot be written.
    """

    def __init__(self, home: Path) -> None:
        try:
            home.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(
                home / FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
        except OSError as error:
            raise PhoneError(
                f"The phone's directory {home} cannot be written: {error.strerror}.",
                "Free some space there, or choose a directory that can be written.",
            ) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._descriptor, 32, 0).decode("ascii", "replace").strip()
            self.release()
            who = f"process {holder}" if holder.isdigit() else "another process"
            raise HeldError(
                f"The phone in {home} is in use by {who}.", "End that process first."
            ) from error
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let go; calling it again does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
