"""The bases of ops and events."""

from __future__ import annotations

import msgspec


class OpBase(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="type",
):
    """Base of every request."""


class EventBase(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    gc=False,
    tag_field="type",
):
    """Base of every fact; without cycles, as records are."""
