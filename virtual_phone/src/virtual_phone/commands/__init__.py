"""The phone's commands: small subjects are modules here, larger ones rooms."""

from importlib import import_module
from pkgutil import walk_packages


def register_all() -> None:
    """Import every subject, which puts its commands into the shell's table."""
    for subject in walk_packages(__path__, f"{__name__}."):
        import_module(subject.name)
