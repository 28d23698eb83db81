"""Load the anthropic SDK beside the event loop, as `agent.models.openai.sdk` does the other."""

import asyncio
from importlib import import_module
from threading import Event

from agent.errors import ConfigError
from agent.extras import install, missing

_loaded = Event()


async def load() -> None:
    """Import the SDK once, in a thread; a caller that is cancelled leaves the import running.

    Raises:
        ConfigError: the package is not installed.
    """
    if not _loaded.is_set():
        await asyncio.to_thread(_import)


def _import() -> None:
    try:
        import_module("anthropic")
    except ImportError as error:
        raise ConfigError(
            missing("anthropic"), f"{install('anthropic')} Or set model.wire to chat."
        ) from error
    _loaded.set()
