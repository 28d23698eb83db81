"""A client of the environment, typed: OpenEnv's own, told which classes the phone has.

```python
with PhoneEnv(base_url="http://127.0.0.1:8440", headers=bearer(token)).sync() as env:
    seen = env.reset(seed=1)
    seen = env.step(PhoneAction(tool_name="tap", parameters={"x": 0.5, "y": 0.5}))
```
"""

from __future__ import annotations

from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient

from console.openenv.environment import PhoneAction, PhoneObservation, PhoneState

__all__ = ["PhoneAction", "PhoneEnv", "bearer"]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class PhoneEnv(EnvClient[PhoneAction, PhoneObservation, PhoneState]):
    """One session: one phone."""

    def _step_payload(self, action: PhoneAction) -> dict[str, Any]:
        return action.model_dump(exclude={"metadata"})

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[PhoneObservation]:
        # Reward and end stand beside the observation on the wire.
        reward, done = payload.get("reward"), bool(payload.get("done"))
        seen = PhoneObservation(**payload["observation"], reward=reward, done=done)
        return StepResult(observation=seen, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> PhoneState:
        return PhoneState(**payload)
