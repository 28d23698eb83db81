"""The client, by the name that OpenEnv's tools look for."""

from console.openenv.client import PhoneEnv, bearer

__all__ = ["PhoneEnv", "bearer"]
