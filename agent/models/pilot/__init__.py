"""The offline pilot: a heuristic stand-in for a language model; see `policy`."""

from agent.models.pilot.policy import Pilot

__all__ = ["Pilot"]
