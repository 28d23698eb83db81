"""Shared by every test: random data is judged by what it shows, never by how long it takes."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# On a machine that is busy, one example may take any time, and so may drawing its data.
settings.register_profile(
    "switchboard",
    parent=settings(),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("switchboard")
