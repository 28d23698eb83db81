"""Phones as a Gymnasium environment; importing this registers `switchboard/Phone-v0`.

```python
import gymnasium, console.gymnasium

env = gymnasium.make("switchboard/Phone-v0")
```
"""

from gymnasium import register

NAME = "switchboard/Phone-v0"

register(
    NAME,
    entry_point="console.gymnasium.environment:PhoneEnv",
    vector_entry_point="console.gymnasium.vector:PhoneVectorEnv",
)
