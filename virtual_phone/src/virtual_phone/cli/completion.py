"""`virtual-phone completion`: the script that teaches a shell to complete the command."""

import click

SHELLS = ("bash", "zsh", "fish")


@click.command(
    epilog="""\b
Examples:
  virtual-phone completion bash > ~/.local/share/bash-completion/completions/virtual-phone
  virtual-phone completion zsh > "${fpath[1]}/_virtual-phone"
  virtual-phone completion fish > ~/.config/fish/completions/virtual-phone.fish
"""
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script of a shell."""
    from click.shell_completion import get_completion_class

    from virtual_phone.cli.main import cli

    complete = get_completion_class(shell)
    assert complete is not None
    click.echo(complete(cli, {}, "virtual-phone", "_VIRTUAL_PHONE_COMPLETE").source())
