"""The switchboard command."""


def main() -> None:
    """Run the command line."""
    raise SystemExit(0)
