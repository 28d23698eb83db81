"""The action, the observation and the state, by the names that OpenEnv's tools look for."""

from console.openenv.environment import PhoneAction, PhoneObservation, PhoneState

__all__ = ["PhoneAction", "PhoneObservation", "PhoneState"]
