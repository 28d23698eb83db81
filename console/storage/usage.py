"""How much the stored pictures take, of how much they may: looked up now and then, in a thread.

Not retention, which is the core's. Invariant: the disk is looked at every five minutes
at most, unless somebody asks.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from agent.errors import StoreError
from agent.settings import RetentionSettings
from agent.text import counted

_log = logging.getLogger(__name__)
EVERY_S = 300.0
_NEARLY_FULL = 0.8
_GB = 1_000_000_000


class Usage(NamedTuple):
    """What the pictures of all sessions take."""

    took_bytes: int
    kept: RetentionSettings

    @property
    def words(self) -> str:
        """Return how much there is, of how much, and for how long it stays."""
        gb = f"{self.took_bytes / _GB:.1f}" if self.took_bytes >= _GB / 20 else "< 0.1"
        days = counted(self.kept.keep_days, "day")
        return f"pictures: {gb} of {self.kept.keep_gb:g} GB, kept {days}"

    @property
    def is_nearly_full(self) -> bool:
        """Whether pictures may soon go before their days are over."""
        return self.took_bytes >= _NEARLY_FULL * self.kept.keep_gb * _GB


class PictureUsage:
    """Knows how much the pictures take, as of the last look.

    Args:
        data_dir: of the core.
        kept: the settings of retention.
        clock_s: a clock that only goes forward, in seconds.
    """

    def __init__(
        self, data_dir: Path, kept: RetentionSettings, clock_s: Callable[[], float] = monotonic
    ) -> None:
        self.newest: Usage | None = None
        self._directory = data_dir / "blobs"
        self._kept = kept
        self._clock_s = clock_s
        self._looked_s: float | None = None

    @property
    def is_due(self) -> bool:
        """Whether the last look was long ago."""
        return self._looked_s is None or self._clock_s() - self._looked_s >= EVERY_S

    async def look(self) -> None:
        """Look at the disk; what cannot be read leaves what was known."""
        from agent.store.embedded.blobs import BlobFiles

        self._looked_s = self._clock_s()
        try:
            took = await asyncio.to_thread(BlobFiles(self._directory).size_bytes)
        except StoreError as error:
            _log.warning("The size of the pictures could not be read: %s", error)
            return
        self.newest = Usage(took, self._kept)
