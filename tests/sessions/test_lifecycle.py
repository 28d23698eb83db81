"""Random lifecycles, played by the model of the promises and by a real core, in a short form.

The long form is `make fuzz` and `python -m tests.sessions.lifecycle`.
"""

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.sessions.lifecycle.machine import Lifecycle

pytestmark = pytest.mark.slow

TestLifecycle = Lifecycle.TestCase
TestLifecycle.settings = settings(
    max_examples=15,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    database=None,
    # What fails here is found again by its seed; shrinking would chase it for minutes.
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
