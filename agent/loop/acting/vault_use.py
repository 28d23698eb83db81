"""Use a secret of the vault for one act: who is asked, what is checked, and where it is put in.

Invariants: the model names an entry and learns nothing else of it; the phone is read anew between
the question and the typing, and what it does not tell is a refusal; a secret is hidden from texts
before it leaves the vault.
"""

import asyncio
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from agent.devices.protocols import Device, ProvesApps
from agent.errors import DeviceError, DeviceLostError, SwitchboardError
from agent.loop.screen.elements import number_elements
from agent.loop.screen.list_rows import is_editable
from agent.loop.task_context import TaskContext
from agent.protocol import ToolCallRequested
from agent.records import DIRECT, Autonomy, Bounds, Element, Speaker, UiNode
from agent.safety.redacting.secrets import SECRET, Secrets, vault_reference
from agent.text import one_line
from agent.tools.actions import ResolvedAction
from agent.tools.arguments import BadArguments, TypeText
from agent.tools.gestures.keypad import PressKeys, keys_for
from agent.vault.entries import Use, VaultEntry, is_for_keypad
from agent.vault.fitting import Target, why_unfit
from agent.vault.vault import no_entry


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that may be opened for one act; shown, it does not tell the passphrase."""

    entry: VaultEntry
    passphrase: str = ""

    def __repr__(self) -> str:
        return f"Opening({self.entry.name})"


@dataclass(slots=True)
class VaultUse:
    """The vault, for one turn."""

    context: TaskContext
    secrets: Secrets

    async def entry_for(self, resolved: ResolvedAction) -> tuple[VaultEntry | None, str]:
        """Return the entry that an act names, or why it is not used on the screen that it is for.

        Whoever is asked about a use has not to be asked about one that would be refused.
        """
        try:
            entry = await asyncio.to_thread(self.context.vault.find, resolved.vault)
            if entry is None:
                return None, _error_line(no_entry(resolved.vault))
            if is_for_keypad(entry) != isinstance(resolved.action, PressKeys):
                kind = "press_keys" if is_for_keypad(entry) else "type_text"
                return None, f"{vault_reference(entry.name)} is given by {kind}"
            why = why_unfit(entry, await self._target(entry, resolved, self.context.device, None))
        except DeviceLostError:
            raise
        except SwitchboardError as error:
            return None, _error_line(error)
        return (None, f"{_sentence(why)}, so nothing was typed") if why else (entry, "")

    def is_allowed(self, entry: VaultEntry) -> bool:
        """Return whether nobody is asked: the entry says so, and a person began the session."""
        session = self.context.session
        is_persons = session.goal_speaker is not Speaker.MODEL
        return (
            entry.use is Use.ALLOW
            and not entry.is_sealed
            and session.autonomy is Autonomy.TRUSTED_ACTIONS
            and is_persons
            and not session.model.startswith(DIRECT)
        )

    def note(self, entry: VaultEntry) -> str:
        """Return what stands on the card of a question about a use."""
        site = f" on {entry.site}" if entry.site else ""
        return (
            f"The vault's {entry.name}, kept for {entry.package}{site} ({entry.field.words}). "
            "The agent does not see it."
        )

    async def ask_passphrase(
        self, entry: VaultEntry, resolved: ResolvedAction, call: ToolCallRequested
    ) -> str | None:
        """Ask for the passphrase of a sealed entry, which lets it be used once."""
        label = "the keypad" if resolved.element is None else f'"{resolved.element.label[:80]}"'
        return await self.context.ask(
            f"What is the passphrase of the vault's {entry.name}? It is used once, for {label} of "
            f"{entry.package}, and the agent sees neither.",
            call_id=call.call_id,
            step=call.step,
            secret=True,
            note=self.note(entry),
        )

    async def give(
        self, opening: Opening, resolved: ResolvedAction, device: Device
    ) -> ResolvedAction:
        """Put a secret in, after the checks on what the phone shows now.

        Raises:
            BadArguments: it is not for what is in front, or cannot be opened.
            DeviceError: the phone does not answer.
        """
        entry = opening.entry
        try:
            target = await self._target(entry, resolved, device, resolved.element)
            why = why_unfit(entry, target)
            if why:
                raise BadArguments(f"{_sentence(why)}, so nothing was typed")
            secret = await asyncio.to_thread(
                self.context.vault.hand_out, entry.name, entry, opening.passphrase
            )
        except DeviceError:
            raise
        except SwitchboardError as error:
            raise BadArguments(_error_line(error)) from error
        self.secrets.add(secret)
        if isinstance(resolved.action, PressKeys):
            return replace(
                resolved, keys=keys_for(secret.strip(), number_elements(target.nodes, redact=str))
            )
        assert isinstance(resolved.action, TypeText)
        return replace(resolved, action=replace(resolved.action, text=secret))

    def as_shown(self, resolved: ResolvedAction) -> ResolvedAction:
        """Return an act as its result is judged: the screen shows a stand-in for the secret."""
        if isinstance(resolved.action, TypeText):
            return replace(resolved, action=replace(resolved.action, text=SECRET))
        return replace(resolved, keys=())

    async def _target(
        self, entry: VaultEntry, resolved: ResolvedAction, device: Device, focused: Element | None
    ) -> Target:
        """Read what a secret would go to.

        Args:
            focused: has to have the focus; None: it gets it by the touch that comes.

        Raises DeviceError; BadArguments: the focus is elsewhere.
        """
        if not isinstance(device, ProvesApps):
            raise DeviceError(
                "This screen cannot tell which app is in front of it for certain.",
                "Work on the phone's own screen.",
            )
        front = (await device.foreground()).package
        signers: tuple[str, ...] = ()
        over: tuple[str, ...] = ()
        if front == entry.package:
            # Of another app nothing is asked: it is refused by its name.
            signers = await device.proof.signers(front)
            over = await device.proof.windows_over(front)
        tree = await device.tree()
        nodes = tree.nodes
        field = None
        if resolved.element is not None:
            field = _same(resolved.element, nodes)
            if focused is not None and (field is None or not _has_focus_alone(field, nodes)):
                raise BadArguments("another field has the focus, so nothing was typed")
            if field is None:
                raise BadArguments("the field is not there any more, so nothing was typed")
            # Its name may be a text beside it.
            field = replace(field, hint=field.hint or resolved.element.label)
        return Target(package=front, certificates=signers, over=over, nodes=nodes, field=field)


def _same(element: Element, nodes: tuple[UiNode, ...]) -> UiNode | None:
    """Find a field in a tree: by its id and class, and its place where there are several."""
    alike = [
        node
        for node in nodes
        if is_editable(node)
        and (node.resource_id, node.class_name, node.package)
        == (element.resource_id, element.class_name, element.package)
    ]
    if len(alike) > 1:
        focused = [node for node in alike if node.focused]
        alike = focused if len(focused) == 1 else [n for n in alike if _meets(n.bounds, element)]
    return alike[0] if len(alike) == 1 else None


def _meets(bounds: Bounds, element: Element) -> bool:
    at = element.bounds.center
    return bounds.left <= at.x <= bounds.right and bounds.top <= at.y <= bounds.bottom


def _has_focus_alone(field: UiNode, nodes: tuple[UiNode, ...]) -> bool:
    focused = [node for node in nodes if node.focused and is_editable(node)]
    return len(focused) == 1 and focused[0] is field


def _error_line(error: SwitchboardError) -> str:
    return one_line(f"{error.message} {error.remedy}".strip(), 300)


def _sentence(why: str) -> str:
    return one_line(f"{why[:1].upper()}{why[1:]}" if not why.startswith("com.") else why, 300)
