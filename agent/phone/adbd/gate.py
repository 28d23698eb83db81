"""Who may use the phone over ADB.

Not the handshake (see `connection`).
"""

from __future__ import annotations


class OpenGate:
    """A phone that trusts every computer, as an emulator does."""

    def required(self) -> bool:
        """Return False."""
        return False

    def verify(self, token: bytes, signature: bytes) -> bool:
        """Return True."""
        del token, signature
        return True

    async def ask(self, public_key: bytes) -> bool:
        """Return True."""
        del public_key
        return True
