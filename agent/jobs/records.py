"""Change job records one after the other, each from what is stored now.

Not the rules of a change (`agent.jobs.schedule`). Invariant: no change is made from a record that
was read before another change, so none is ever lost (CONTRACTS 2.3, hazards 1, 2 and 4).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agent.errors import UsageError
from agent.records import Job
from agent.store.store import Store

Rule = Callable[[Job], Job | None]
"""Give the record as it should be; None leaves it as it is."""


class JobRecords:
    """The one way to change a stored job."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._one_at_a_time = asyncio.Lock()

    async def change(self, job_id: int, rule: Rule, reason: str) -> tuple[Job, bool]:
        """Apply a rule to a job as it is stored now.

        Returns:
            The job as it then is, and whether the rule changed it.

        Raises:
            UsageError: there is no such job.
            StoreError: it could not be stored.
        """
        async with self._one_at_a_time:
            while True:
                job = await self._store.job(job_id)
                if job is None:
                    raise UsageError(
                        f"There is no job {job_id}.", "List them: switchboard jobs list"
                    )
                changed = rule(job)
                if changed is None:
                    return job, False
                if await self._store.replace_job(changed, expect=job.status, reason=reason):
                    return changed, True
