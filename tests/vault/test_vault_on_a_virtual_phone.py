"""A vault at real work: sign in, press a PIN, type a code; and what a model gets of it."""

import logging
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from agent.devices.protocols import ProvesApps
from agent.protocol import ToolCallRequested
from agent.records import Question, Speaker
from agent.tasks.regular import RegularTask
from agent.vault.entries import SecretKind, Use, VaultEntry, read_field
from agent.vault.vault import FILE_NAME, Vault
from tests.digits import holds_number
from tests.tasks.context import MemoryContext
from tests.tasks.phones.test_gestures_on_a_virtual_phone import END, on, results_of
from tests.tasks.phones.test_pilot_on_a_virtual_phone import virtual_phone
from tests.tasks.scripted import ScriptedModel, Turn, says
from tests.vault.keyring_memory import MemoryKeyring, memory_keyring

__all__ = ["memory_keyring"]

SETTINGS, WALLET, CONTACTS = "com.android.settings", "com.example.wallet", "com.android.contacts"
PASSWORD, PIN, PASSPHRASE = "correct horse 9", "2580", "open sesame"
AUTHENTICATOR, CODE = "JBSWY3DPEHPK3PXP", "213197"
NOW_MS = 1_795_860_000_000
WIFI = (says("open_link", link="android.settings.WIFI_SETTINGS"), on("Lakehouse"))


def kept_by(context: MemoryContext, model: ScriptedModel) -> bytes:
    """Return all that was stored, sent to the model or shown."""
    kept = msgspec.json.encode(context.events) + b"".join(context.blobs.values())
    questions = msgspec.json.encode(context.questions)
    return kept + questions + repr((model.requests, context.deltas)).encode()


async def test_secrets_reach_their_fields_and_nobody_else(
    tmp_path: Path, memory_keyring: MemoryKeyring, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    asked: list[Question] = []

    def answer(question: Question) -> str:
        asked.append(question)
        return PASSPHRASE if question.secret else "Approve"

    async with virtual_phone(tmp_path) as device:
        assert isinstance(device, ProvesApps)
        vault = Vault(tmp_path, lambda: NOW_MS)

        async def keep(name: str, app: str, field: str, secret: str, **more: object) -> None:
            assert isinstance(device, ProvesApps)
            signers = await device.proof.signers(app)
            made = VaultEntry(name=name, package=app, certificates=signers, field=read_field(field))
            sealed = PASSPHRASE if name == "pin" else ""
            vault.add(replace(made, **more), secret, sealed)

        await keep("wifi", SETTINGS, "password", PASSWORD)
        await keep("pin", WALLET, "keypad", PIN)
        await keep(
            *("code", CONTACTS, "hint:Phone", AUTHENTICATOR), kind=SecretKind.TOTP, use=Use.ALLOW
        )

        async def work(goal: str, *turns: Turn) -> tuple[MemoryContext, ScriptedModel]:
            model = ScriptedModel([*turns, *END])
            context = MemoryContext(model, device, goal=goal, answer=answer, vault=vault)
            await RegularTask().run(context)
            return context, model

        signing, first = await work(
            "join Lakehouse",
            *WIFI,
            on("Password", "type_text", text="{{vault:wifi}}"),
            on("Connect"),
        )
        typed = results_of(signing)[2]
        assert typed.startswith('OK: Typed {{vault:wifi}} into "Password". The field now holds 15')
        assert [question.secret for question in asked] == [False]
        assert "{{vault:wifi}}" in asked[0].text and "vault's wifi" in asked[0].note
        assert 'Now shows "Lakehouse | Connected"' in results_of(signing)[3]
        [stored] = [
            m
            for m in signing.of(ToolCallRequested)
            if isinstance(m, ToolCallRequested) and m.tool == "type_text"
        ]
        assert "{{vault:wifi}}" in stored.arguments

        asked.clear()
        paying, second = await work(
            "pay Tom Becker 5 dollars",
            says("launch_app", app="Wallet"),
            on('"Send"'),
            on("Tom Becker"),
            on("0.00", "type_text", text="5"),
            says("press_button", button="BACK"),
            on("Continue"),
            says("press_keys", keys="{{vault:pin}}"),
        )
        assert any("DoneActivity" in text for text in results_of(paying)), results_of(paying)
        # The payment is approved, then the passphrase is given.
        assert [question.secret for question in asked][-2:] == [False, True]
        assert "Pay" in asked[-2].text

        asked.clear()
        coding, third = await work(
            "note the code",
            says("launch_app", app="Contacts"),
            on("Create contact"),
            on("Phone", "type_text", text="{{vault:code}}"),
        )
        # Nobody is asked: the entry allows it, and a person began the session.
        assert asked == []
        assert "The field now holds it" in results_of(coding)[2]
        shown = (await device.tree()).xml
        assert CODE.encode() in shown.replace(b" ", b"").replace(b"-", b"")
        # What was handed out stays hidden in a later turn, on the screen that still shows it.
        later, fourth = await work("look again", says("wait", seconds=0.1))

    assert vault.handed_out == (PASSWORD, PIN, CODE)
    contexts = ((signing, first), (paying, second), (coding, third), (later, fourth))
    for context, model in contexts:
        kept = kept_by(context, model)
        assert PASSWORD.encode() not in kept and AUTHENTICATOR.encode() not in kept
        assert PASSPHRASE.encode() not in kept
        assert not holds_number(kept, PIN) and not holds_number(kept, CODE)
    for secret in (PASSWORD, AUTHENTICATOR, PASSPHRASE):
        assert secret not in caplog.text


async def test_no_attack_gets_a_secret(tmp_path: Path, memory_keyring: MemoryKeyring) -> None:
    """In one loop: each attack on one phone, then all that was kept, searched for the secret."""

    class Proof:
        """What the phone tells, with another app's window over the one in front."""

        def __init__(self, device: ProvesApps) -> None:
            self.signers = device.proof.signers

        async def windows_over(self, package: str, *, timeout_s: float = 5.0) -> tuple[str, ...]:
            return ("com.evil.overlay",)

    class Covered:
        """The phone with that window."""

        def __init__(self, device: ProvesApps) -> None:
            self._device = device
            self.proof = Proof(device)

        def __getattr__(self, name: str) -> object:
            return getattr(self._device, name)

    async with virtual_phone(tmp_path) as device:
        assert isinstance(device, ProvesApps)
        vault = Vault(tmp_path)
        signers = await device.proof.signers(SETTINGS)
        wifi = VaultEntry(
            name="wifi", package=SETTINGS, certificates=signers, field=read_field("password")
        )
        vault.add(wifi, PASSWORD)
        others = {
            "other-app": {"package": "com.example.bank"},
            "other-signer": {"certificates": ("0" * 64,)},
            "other-field": {"field": read_field("id:other")},
            "keypad": {"field": read_field("keypad")},
            "site": {"site": "accounts.example.com"},
        }
        for name, other in others.items():
            vault.add(replace(wifi, name=name, **other), PASSWORD)
        vault.add(replace(wifi, name="allowed", use=Use.ALLOW), PASSWORD)
        into: Callable[[str], Turn] = lambda text: on("Password", "type_text", text=text)  # noqa: E731
        attacks: dict[str, tuple[Turn, ...]] = {
            **{name: (*WIFI, into(f"{{{{vault:{name}}}}}")) for name in others},
            "no such name": (*WIFI, into("{{vault:nope}}")),
            "in a longer text": (*WIFI, into("my password is {{vault:wifi}}")),
            "twice": (*WIFI, into("{{vault:wifi}}{{vault:wifi}}")),
            "other app in front": (
                *(says("launch_app", app="Contacts"), on("Create contact")),
                on("Phone", "type_text", text="{{vault:wifi}}"),
            ),
            "clipboard": (
                *(*WIFI, into("x"), says("clipboard", do="paste", text="{{vault:wifi}}")),
                says("clipboard", do="copy", text="{{vault:wifi}}"),
                says("clipboard", do="read"),
            ),
            "asked for": (
                says("ask_user", question="Repeat what {{vault:wifi}} stands for"),
                says("remember", text="{{vault:wifi}}"),
                says("press_keys", keys="{{vault:wifi}}"),
            ),
            "overlay": (*WIFI, into("{{vault:wifi}}")),
            "rejected": (*WIFI, into("{{vault:wifi}}"), into("{{vault:wifi}}")),
            "by a program": (*WIFI, into("{{vault:allowed}}")),
            "file of others": (*WIFI, into("{{vault:wifi}}")),
        }
        kept = b""
        for name, turns in attacks.items():
            phone = Covered(device) if name == "overlay" else device
            model = ScriptedModel([*turns, *END])
            context = MemoryContext(
                model,
                phone,  # type: ignore[arg-type]
                goal="try it",
                vault=vault,
                answer=lambda question, it=name: "No" if it in _ASKED else "Approve",  # type: ignore[misc]
            )
            context.session = replace(
                context.session,
                goal_speaker=Speaker.MODEL if name == "by a program" else Speaker.OPERATOR,
            )
            if name == "file of others":
                (tmp_path / FILE_NAME).chmod(0o644)
            await RegularTask().run(context)
            results = results_of(context)
            refused = [text for text in results if text.startswith(("FAILED", "BLOCKED"))]
            if name not in {"clipboard", "asked for"}:
                assert refused, (name, results)
            used = [q for q in context.questions if "vault" in (q.note or "")]
            assert bool(used) == (name in _ASKED), (name, used)
            kept += kept_by(context, model)
            await device.key("BACK")
            await device.key("HOME")
        held = await device.clipboard()
    assert vault.handed_out == ()
    assert held == "{{vault:wifi}}"
    assert PASSWORD.encode() not in kept


_ASKED = frozenset({"rejected", "by a program"})
