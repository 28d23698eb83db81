"""android_env's Python API on Switchboard's phones: environments, and a pool of warm ones.

```python
from console.android_env.environment import AndroidAction, AndroidEnvironment
from console.android_env.pool import EmulatorPool
```
"""
