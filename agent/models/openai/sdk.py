"""Load the openai SDK beside the event loop.

Its import takes a second or two of CPU. On the loop that would be the time for which no key is
heard and no session is stopped, at the first call of the first session.
"""

import asyncio
from importlib import import_module
from threading import Event

_WANTED = (
    "openai.resources.chat.chat",
    "openai.resources.models",
    "openai.resources.responses.responses",
    "openai.types.chat",
    "openai.types.responses",
)
_loaded = Event()


async def load() -> None:
    """Import what a call needs, once, in a thread; a caller that is cancelled leaves it running."""
    if not _loaded.is_set():
        await asyncio.to_thread(_import)


def _import() -> None:
    for name in _WANTED:
        import_module(name)
    _loaded.set()
