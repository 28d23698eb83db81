"""`switchboard completion`: the script that teaches a shell to complete the command."""

import click

SHELLS = ("bash", "zsh", "fish")


@click.command(
    epilog="""\b
Examples:
  switchboard completion bash > ~/.local/share/bash-completion/completions/switchboard
  switchboard completion zsh > "${fpath[1]}/_switchboard"
  switchboard completion fish > ~/.config/fish/completions/switchboard.fish
"""
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script of a shell."""
    from click.shell_completion import get_completion_class

    from console.cli import cli

    complete = get_completion_class(shell)
    assert complete is not None
    made = complete(cli, {}, "switchboard", "_SWITCHBOARD_COMPLETE")
    click.echo(made.source())
