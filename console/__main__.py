"""`python -m console` is `switchboard`: how the command starts itself again, detached."""

from console.cli import main

main()
