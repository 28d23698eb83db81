"""Define the bases of ops and events, and their metadata."""

from typing import ClassVar

import msgspec

from agent.records import Allows, Right


class OpBase(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="type",
):
    """Base of every request."""

    brief: ClassVar[str] = ""
    """What it does, in the words of every list that offers it: tools, help and OpenAPI; empty: it
    is offered nowhere but here."""
    returns: ClassVar[str] = "its submission id"
    """What its reply carries, for the reference."""
    needs: ClassVar[tuple[Right, ...]]
    """The rights of which an operator needs one, on the phone that it concerns. Each op says it."""
    allows: ClassVar[Allows]
    """What it may let an agent do beyond what it was allowed. Each op says it."""
    allows_more_by: ClassVar[tuple[str, ...]] = ()
    """The fields with which it allows more, where they are not empty."""
    persons_only: ClassVar[bool] = False
    """No script's token allows it either."""
    waits_for_phone: ClassVar[bool] = False
    """It may take as long as a phone does: it is carried out beside the others."""
    stops: ClassVar[bool] = False
    """It only holds or ends what is at work: there is always a place for it."""
    changes_nothing: ClassVar[bool] = False
    """It only looks, here and on the phone: a console that may only look can ask it."""


class CreatingOp(OpBase, frozen=True, kw_only=True):
    """Base of every request that makes a new record."""

    request_id: str = ""
    """Chosen by the client: the same request again, after its answer was lost, creates nothing and
    gets what is there. Of jobs, watchers and commitments the newest 50 are known, of watchers and
    commitments also those that are active. Empty: each request creates something new."""


class EventBase(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag_field="type"
):
    """Base of every fact; without cycles, as records are."""

    of_no_session: ClassVar[bool] = False
    """A fact of the whole store. In the past of one session somebody else put it there."""
