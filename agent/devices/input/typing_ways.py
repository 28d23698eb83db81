"""The ways by which text can reach a focused field, each tried by itself.

Not their order and not the reading back (`text_channel`). Invariant: a way that raises
`NotTypedError` sent nothing; after any other end the field may hold all of the text, or part of it.
"""

from typing import Protocol

from agent.devices.input import input_text
from agent.devices.input.borrowed_keyboard import Keyboard
from agent.devices.input.input_methods import InputMethod
from agent.devices.protocols import TextWay
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.shell.profile import Profile
from agent.devices.trees import uiautomator_rpc as rpc
from agent.devices.trees.uiautomator_service import UiautomatorService
from agent.errors import (
    DeviceError,
    DeviceLostError,
    DeviceTimeoutError,
    InputRefusedError,
    TextEntryError,
)
from agent.text import one_line


class Clipboard(Protocol):
    """The phone's clipboard, as far as typing takes."""

    async def can_paste(self, timeout_s: float) -> None:
        """Raise DeviceError when nothing can be pasted."""

    async def paste(self, text: str, timeout_s: float) -> None:
        """Put text on the clipboard and paste it."""


_FOCUSED = {"mask": 0x20000, "childOrSibling": [], "childOrSiblingSelector": [], "focused": True}
"""The one selector that is sent to uiautomator2 (`MASK_FOCUSED` of its `_selector.py`)."""


class NotTypedError(DeviceError):
    """A way is not there or was refused before it typed anything; the message says why."""


class PartlyTypedError(TextEntryError):
    """The phone said that it did not take the text, after it may have taken part of it."""


class Way(Protocol):
    """One way to type."""

    @property
    def kind(self) -> TextWay: ...

    async def ready(self, timeout_s: float) -> None:
        """Raise NotTypedError where the way is not there: no field is put back for it in vain."""

    async def send(self, text: str, before: str, timeout_s: float) -> None:
        """Type the text into the focused field, which holds `before`.

        Raises:
            NotTypedError: nothing was sent.
            TextEntryError: the phone said that it did not take all of it.
            DeviceLostError, DeviceTimeoutError: what has arrived is unknown.
        """


class Keys:
    """The shell's `input text`, for what keys write."""

    kind = TextWay.KEYS

    def __init__(self, shell: PhoneShell, profile: Profile) -> None:
        self._shell = shell
        self._profile = profile

    async def ready(self, timeout_s: float) -> None:
        """Return: every Android has it."""

    async def send(self, text: str, before: str, timeout_s: float) -> None:
        """Press the keys of the text; a refusal of the first is one of all."""
        del before
        for number, line in enumerate(input_text.commands(text, sdk=self._profile.sdk)):
            try:
                await self._shell.checked(line, timeout_s)
            except InputRefusedError as error:
                raise (_not_typed(error) if not number else _partly(error)) from error
            except (DeviceLostError, DeviceTimeoutError):
                raise
            except DeviceError as error:
                raise _partly(error) from error


class BorrowedKeyboard:
    """An input method that types what is broadcast to it."""

    kind = TextWay.INPUT_METHOD

    def __init__(self, shell: PhoneShell, keyboard: Keyboard) -> None:
        self._shell = shell
        self._keyboard = keyboard

    async def ready(self, timeout_s: float) -> None:
        """Look whether the phone has one."""
        if not await self._keyboard.can_be_borrowed(timeout_s):
            raise NotTypedError("no input method that takes broadcasts can be borrowed")

    async def send(self, text: str, before: str, timeout_s: float) -> None:
        """Borrow one, broadcast the text, and give the phone its own back."""
        del before
        try:
            async with self._keyboard.borrowed(timeout_s) as method:
                if method is None:
                    raise NotTypedError("no input method that takes broadcasts can be borrowed")
                for number, line in enumerate(method.commands(text)):
                    await self._broadcast(method, line, timeout_s, is_first=not number)
        except TextEntryError as error:
            if isinstance(error, PartlyTypedError):
                raise
            raise _not_typed(error) from error

    async def _broadcast(
        self, method: InputMethod, command: str, timeout_s: float, *, is_first: bool
    ) -> None:
        result = await self._shell.run(command, timeout_s)
        if result.exit_code == 0 and method.accepted in result.text:
            return
        said = f"{method.name} did not take the text: {one_line(result.text, 120)}"
        if is_first:
            raise NotTypedError(said)
        raise PartlyTypedError(said)


class SetText:
    """The accessibility action that sets a field's text, done by the service that reads the tree.

    Args:
        hides: whether the field hides what it holds, so that nothing can be put behind it.
    """

    kind = TextWay.ACCESSIBILITY

    def __init__(self, shell: PhoneShell, service: UiautomatorService, *, hides: bool) -> None:
        self._shell = shell
        self._service = service
        self._hides = hides

    async def ready(self, timeout_s: float) -> None:
        """Have the service up."""
        try:
            await self._service.ensure()
        except (DeviceLostError, DeviceTimeoutError):
            raise
        except DeviceError as error:
            raise _not_typed(error) from error

    async def send(self, text: str, before: str, timeout_s: float) -> None:
        """Set the field to its content and the text."""
        if self._hides and before:
            raise NotTypedError(
                "a password field's content is hidden, so none can be put behind it"
            )
        await self.set(before + text, timeout_s)

    async def set(self, content: str, timeout_s: float) -> None:
        """Set the focused field's whole content. Raises NotTypedError when it was not set."""
        await self.ready(timeout_s)
        try:
            done = await rpc.call(
                self._shell, "setText", _FOCUSED, content, wanted=bool, timeout_s=timeout_s
            )
        except (DeviceLostError, DeviceTimeoutError):
            raise
        except DeviceError as error:
            raise _not_typed(error) from error
        if not done:
            raise NotTypedError("the field does not let its text be set")


class Pasting:
    """The phone's clipboard, and the key that pastes it."""

    kind = TextWay.CLIPBOARD

    def __init__(self, clipboard: Clipboard) -> None:
        self._clipboard = clipboard

    async def ready(self, timeout_s: float) -> None:
        """Have the way to the clipboard open."""
        try:
            await self._clipboard.can_paste(timeout_s)
        except (DeviceLostError, DeviceTimeoutError):
            raise
        except DeviceError as error:
            # Without a scrcpy server there is none.
            raise _not_typed(error) from error

    async def send(self, text: str, before: str, timeout_s: float) -> None:
        """Put the text on the clipboard, where it stays, and paste it."""
        del before
        try:
            await self._clipboard.paste(text, timeout_s)
        except (DeviceLostError, DeviceTimeoutError):
            raise
        except DeviceError as error:
            raise _not_typed(error) from error


def _not_typed(error: DeviceError) -> NotTypedError:
    return NotTypedError(error.message, error.remedy)


def _partly(error: DeviceError) -> PartlyTypedError:
    return PartlyTypedError(error.message, error.remedy)
