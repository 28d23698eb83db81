"""Ask for the operator's passphrase where the core refuses an op until a person shows up.

Invariant: the op is sent again only after the passphrase was right.
"""

from collections.abc import Callable

from agent.core import Core
from agent.errors import LockedError
from console.base_app import ConsoleApp
from console.core.proving import Provable


class Unlocking:
    """The dialog of one console.

    Args:
        app: where it is opened.
        core: what is shown the passphrase.
    """

    def __init__(self, app: ConsoleApp, core: Core) -> None:
        self._app = app
        self._core = core

    def begin(self, error: LockedError, again: Callable[[], object]) -> None:
        """Ask for the passphrase, then do again what was refused."""
        core = self._core
        if not isinstance(core, Provable):
            self._app.say(str(error), tone="error")
            return

        async def ask() -> None:
            from console.screens.dialogs.unlock import UnlockScreen

            chooses = not (await core.prove()).has_passphrase

            def typed(said: str | None) -> None:
                if said:
                    self._app.spawn(unlock(said), "unlocking")

            async def unlock(said: str) -> None:
                await core.prove(said, chooses=chooses)
                again()

            self._app.push_screen(UnlockScreen(error.message, chooses=chooses), typed)

        self._app.spawn(ask(), "unlocking")
