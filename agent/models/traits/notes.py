"""Keep what calls have taught about endpoints, for people: `switchboard models show` tells it.

One file in the data directory. Invariants: no call is made otherwise because of it, since the
server may be another one by now; whatever cannot be read or written is as good as nothing.
"""

import os
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

import msgspec

from agent.models.wires.traits import Noted, Notes, Source, Trait, Value

FILE_NAME = "endpoints.json"
_MAX_BYTES = 1_000_000
_MAX_MODELS = 200
_Models = dict[str, dict[str, Noted]]


class EndpointNotes:
    """The file of one installation.

    Args:
        path: where it is; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def of(self, address: str, model: str) -> dict[str, Noted]:
        """Return what is noted of a model, by trait."""
        return self._read().get(_name(address, model), {})

    def at(self, address: str, model: str) -> Notes:
        """Return what keeps notes on one model.

        Args:
            address: of the endpoint, without a key in it.
        """
        return partial(self._note, _name(address, model))

    def _note(self, name: str, trait: Trait, value: Value, source: Source, said: str = "") -> None:
        models = self._read()
        known = models.pop(name, {})
        noted = Noted(value=value, source=source, on=_today(), said=said)
        if known.get(trait) == noted:
            return
        # The newest comes last, and the oldest is the first to go.
        models[name] = {**known, trait.value: noted}
        for oldest in list(models)[:-_MAX_MODELS]:
            del models[oldest]
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            beside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
            beside.write_bytes(msgspec.json.format(msgspec.json.encode(models)))
            beside.replace(self._path)

    def _read(self) -> _Models:
        try:
            with self._path.open("rb") as file:
                return msgspec.json.decode(file.read(_MAX_BYTES), type=_Models)
        except (OSError, ValueError, RecursionError):
            return {}


def _name(address: str, model: str) -> str:
    return f"{address} {model}"


def _today() -> date:
    return datetime.now(UTC).date()
