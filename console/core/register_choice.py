"""Which register of operators counts: a file of the data directory, or a fleet's database.

Not a register. Invariant: without a database nothing of a fleet is imported.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent.config import Settings
from agent.operators.file_register import FileRegister
from agent.operators.register import Register
from agent.private_files import check_unshared


@asynccontextmanager
async def follow_register(settings: Settings) -> AsyncIterator[Register]:
    """Follow the register that the settings name, for the length of a `with` block.

    Raises StoreError: a fleet's cannot be read.
    """
    if not settings.store.dsn:
        yield FileRegister(settings.data_dir)
        return
    from agent.hosts.fleet_register import FleetRegister
    from agent.store.addresses import address
    from console.core.store_choice import host_name

    dsn, name = address(settings), host_name(settings)
    async with FleetRegister.followed(dsn, settings.data_dir, name=name) as register:
        yield register


@asynccontextmanager
async def open_register(settings: Settings) -> AsyncIterator[Register]:
    """Open the register that the settings name, for a command. Raises as `follow_register` does."""
    check_unshared(settings.data_dir)
    if not settings.store.dsn:
        yield FileRegister(settings.data_dir)
        return
    from agent.hosts.fleet_register import FleetRegister
    from agent.store.addresses import address

    async with FleetRegister.opened(address(settings), settings.data_dir) as register:
        yield register
