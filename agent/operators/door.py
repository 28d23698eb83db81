"""Sign clients in to a core with operators: who connects, as which operator, for how long.

`agent.operators.operator_core` enforces their rights. Invariants: with operators, no connection
does anything before it signs in; a challenge is signed once, on its own connection; an operator who
was removed or whose sign-in expired is refused at the next call, and disconnected within seconds.
"""

import hashlib
import logging
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, Protocol

from agent.errors import ConfigError, NotAllowedError, StoreError, UsageError
from agent.oidc.claims import OLDEST_S, SKEW_S, Account, nonce_of
from agent.operators.admission import Admission
from agent.operators.changes import signed_in, without_credential
from agent.operators.operator import Identity, Operator, made_token, token_of
from agent.operators.operator_core import OperatorCore
from agent.operators.register import Register
from agent.operators.visibility import GuardedCore, Visibility
from agent.protocol import Op
from agent.records import Right
from agent.text import one_line

CHALLENGE_BYTES = 32
_log = logging.getLogger(__name__)
MOST_TRIES = 5  # How often one connection may try to sign in.


class Seat:
    """An operator who signed in on one connection."""

    def __init__(self, door: "Door", name: str, credential_id: str) -> None:
        self.name = name
        self.credential_id = credential_id
        self._door = door

    def operator(self) -> Operator:
        """Return the operator's current record.

        Raises NotAllowedError: they were removed, or their sign-in has expired.
        """
        found = self._door.register.find(self.name)
        if found is None or not found.has_credential(self.credential_id, self._door.clock_ms()):
            raise NotAllowedError("Your sign-in has expired or was revoked.", "Sign in again.")
        return found


class IssuedToken(NamedTuple):
    """The token issued for a sign-in by an account."""

    token: str = ""
    expires_ms: int = 0


class AccountIssuer(Protocol):
    """The OpenID issuer of a core; see `agent.oidc.issuer`."""

    async def account(self, id_token: str, nonce: str, now_s: float) -> Account:
        """Return the account that an ID token names. Raises NotAllowedError, SwitchboardError."""
        ...


class Door:
    """The sign-in of one core.

    Args:
        core: the core that signed-in clients use.
        register: who the operators are.
        clock_ms: the time by which credentials expire; None: the register's.
        issuer: whose accounts operators sign in with; None: no accounts.
        life_s: how long such a sign-in lasts.
    """

    def __init__(
        self,
        core: GuardedCore,
        register: Register,
        *,
        clock_ms: Callable[[], int] | None = None,
        issuer: AccountIssuer | None = None,
        life_s: int = 28_800,
    ) -> None:
        self._core = core
        self.register = register
        self.clock_ms = clock_ms or register.clock_ms
        self._issuer = issuer
        self._life_ms = life_s * 1000
        self._shown: dict[str, int] = {}
        """The ID tokens that were shown here, by hash, and when each is too old to be shown."""

    @property
    def is_shut(self) -> bool:
        """Return whether new clients must sign in."""
        return self.register.is_used

    def may_approve(self, name: str, serial: str) -> bool:
        """Return whether an operator may currently approve on a phone."""
        operator = self.register.find(name)
        if operator is None:
            return False
        phone = next((one for one in self._core.phones() if one.serial == serial), None)
        return operator.may((Right.APPROVE,), None if phone is None else phone.tags)

    def core_for(self, seat: Seat) -> OperatorCore:
        """Return an operator's filtered core."""
        return OperatorCore(self._core, seat.operator)

    async def judge(self, name: str, op: Op) -> None:
        """Authorise an op that an operator submitted on another host.

        Raises:
            NotAllowedError: no such operator, or the right is missing.
            UsageError: it names something that does not exist, or is not visible to them.
        """
        try:
            await self._check(name, op)
        except (NotAllowedError, UsageError):
            # The host that asks may have heard of a change first.
            with suppress(StoreError):
                await self.register.refresh()
            await self._check(name, op)

    async def _check(self, name: str, op: Op) -> None:
        def operator() -> Operator:
            found = self.register.find(name)
            if found is None:
                raise NotAllowedError(
                    f"Neither host nor register knows an operator {name[:40]!r}.",
                    "Run the same version of Switchboard on all hosts of the fleet.",
                )
            return found

        await Admission(self._core, Visibility(self._core, operator)).check(op)

    def by_token(self, token: str) -> Seat:
        """Sign in with a token. Raises NotAllowedError."""
        found = token_of(self._operators(), token, self.clock_ms())
        if found is None:
            raise wrong_sign_in()
        operator, token_id = found
        return Seat(self, operator.name, token_id)

    async def by_id_token(self, id_token: str, verifier: bytes, channel: bytes) -> IssuedToken:
        """Exchange an ID token, which is accepted once, for a token.

        Args:
            id_token: as the issuer gave it.
            verifier: the secret behind its nonce.
            channel: the certificate that this core showed.

        Raises:
            NotAllowedError: it is not accepted here.
            SwitchboardError: the issuer, or the register, is not available.
        """
        if self._issuer is None:
            raise NotAllowedError(
                "This core has no OpenID issuer.", "Set oidc.issuer and oidc.client_id there."
            )
        now_ms = self.clock_ms()
        account = await self._issuer.account(id_token, nonce_of(verifier, channel), now_ms / 1000)
        proof = hashlib.sha256(id_token.encode()).hexdigest()
        self._shown = {one: end for one, end in self._shown.items() if now_ms < end}
        if proof in self._shown:
            raise NotAllowedError("That ID token was used before.", "Sign in again.")
        self._shown[proof] = now_ms + (OLDEST_S + 2 * SKEW_S) * 1000
        operator, identity = self._with_account(account)
        token, kept = made_token(
            now_ms, self._life_ms, identity_id=identity.identity_id, proof=proof
        )

        def changed(known: Mapping[str, Operator]) -> Operator:
            if operator.name not in known:
                raise wrong_sign_in()
            return signed_in(known[operator.name], kept, now_ms)

        await self.register.change(operator.name, changed)
        return IssuedToken(token, kept.expires_ms)

    async def sign_out(self, seat: Seat) -> None:
        """Revoke the token of a sign-in by an account. Raises UsageError for any other token."""
        tokens = {one.token_id: one for one in seat.operator().tokens}
        if seat.credential_id not in tokens or not tokens[seat.credential_id].identity_id:
            raise UsageError(
                "This connection did not sign in with an account.",
                "A key or a token is revoked by its owner: switchboard operators revoke",
            )

        def changed(known: Mapping[str, Operator]) -> Operator | None:
            operator = known.get(seat.name)
            return operator and without_credential(operator, seat.credential_id)

        await self.register.change(seat.name, changed)

    def _with_account(self, account: Account) -> tuple[Operator, Identity]:
        found = [
            (one, identity)
            for one in self._operators()
            for identity in one.identities
            if identity.issuer == account.issuer
            and (
                identity.subject == account.subject
                if identity.subject
                else bool(account.email) and identity.email == account.email
            )
        ]
        if not found:
            raise NotAllowedError(
                f"No operator has the account {one_line(account.email or account.subject, 100)}.",
                "Ask the owner of the core: switchboard operators account",
            )
        # A subject is one account for ever; an address may be given to another.
        return min(found, key=lambda one: not one[1].subject)

    def by_key(self, public: bytes, signature: bytes, challenge: bytes, channel: bytes) -> Seat:
        """Sign in with a challenge signed by an operator's key. Raises NotAllowedError."""
        from agent.operators.keys import signed_words, verifies

        for operator in self._operators():
            for key in operator.keys:
                if key.public != public:
                    continue
                if verifies(public, signature, signed_words(challenge, channel)):
                    return Seat(self, operator.name, key.key_id)
        raise wrong_sign_in()

    def _operators(self) -> tuple[Operator, ...]:
        try:
            return self.register.operators()
        except ConfigError as error:
            _log.error("%s", error)
            return ()


def new_challenge() -> bytes:
    """Return a new challenge for one connection to sign."""
    return secrets.token_bytes(CHALLENGE_BYTES)


def sign_in_first() -> NotAllowedError:
    return NotAllowedError(
        "This core has operators: sign in first.",
        "Name your key file in SWITCHBOARD_OPERATOR_KEY, or the file of your token in "
        "SWITCHBOARD_OPERATOR_TOKEN_FILE; or sign in with your account: switchboard sign-in",
    )


def wrong_sign_in() -> NotAllowedError:
    """Return the error for a failed sign-in; it never says why."""
    return NotAllowedError(
        "The sign-in was refused: no such operator, key or token, or it has expired.",
        "Ask the owner of the core: switchboard operators list",
    )
