"""The switchboard command: one group whose subcommands are loaded when they are called.

Not the place where anything is done. Invariant: importing this module loads click and nothing of
the core, so that help, completion and a mistyped command answer at once.
"""

import importlib
import os
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# name → (module:attribute, what it does). The help page is made of this table alone.
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("console.commands.demo:demo", "Watch agents work on two virtual phones, offline."),
    "run": ("console.commands.run:run", "Pursue one goal without a screen and report."),
    "sessions": (
        "console.commands.sessions.sessions:sessions",
        "List, show, answer, stop or resume sessions.",
    ),
    "daemon": ("console.commands.daemon:daemon", "Keep the core running without a console."),
    "host": ("console.commands.fleet.host:host", "Join a fleet with this computer's phones."),
    "sign-in": ("console.commands.fleet.sign_in:sign_in", "Sign in to a core with your account."),
    "sign-out": ("console.commands.fleet.sign_in:sign_out", "Sign out of a core."),
    "operators": (
        "console.commands.fleet.operators:operators",
        "Manage who may use this core, and their rights.",
    ),
    "tokens": ("console.commands.fleet.tokens:tokens", "Manage what scripts may approve."),
    "vault": ("console.commands.fleet.vault:vault", "Keep secrets that only a phone gets."),
    "notices": ("console.commands.fleet.notices:notices", "Test where notices are sent."),
    "warrants": (
        "console.commands.fleet.warrants:warrants",
        "Manage what is allowed without a question.",
    ),
    "fleet": ("console.commands.fleet.fleet:fleet", "Show a fleet's hosts, and what is wrong."),
    "web": ("console.commands.servers.web:web", "Serve the console to a browser on this machine."),
    "pair": ("console.commands.servers.pair:pair", "Answer from your own phone, by its own key."),
    "relay": (
        "console.commands.servers.relay:relay",
        "Be a relay: boxes for what paired phones seal.",
    ),
    "serve": (
        "console.commands.servers.serve:serve",
        "Serve the ops over HTTP, described by OpenAPI.",
    ),
    "monitor": (
        "console.commands.servers.monitor:monitor",
        "Serve metrics to Prometheus; send traces by OTLP.",
    ),
    "jobs": ("console.commands.jobs.jobs:jobs", "Create, list and stop scheduled work."),
    "watchers": (
        "console.commands.jobs.watchers:watchers",
        "Watch notifications, messages, pages and screens.",
    ),
    "commitments": (
        "console.commands.jobs.commitments:commitments",
        "Track promises; be reminded of them.",
    ),
    "devices": ("console.commands.devices.devices:devices", "List the phones that can be reached."),
    "dataset": (
        "console.commands.research.dataset:dataset",
        "Write sessions as Parquet to train on; read them back.",
    ),
    "replay": ("console.commands.replay:replay", "Replay a stored session in the console."),
    "models": (
        "console.commands.models.models:models",
        "List models, test one, show what they cost.",
    ),
    "login": (
        "console.commands.models.login:login",
        "Sign in to the model's provider, or store a key.",
    ),
    "logout": ("console.commands.models.login:logout", "Forget the login or a stored key."),
    "cards": ("console.commands.cards:cards", "List, check, show and draft app cards."),
    "audit": ("console.commands.audit:audit", "Show what was done and allowed; verify the audit."),
    "store": ("console.commands.store:store", "Check, compact, back up or repair the store."),
    "doctor": ("console.commands.doctor:doctor", "Check what is missing and how to get it."),
    "phone": ("console.commands.phone:phone", "Serve, inspect or reset virtual phones."),
    "drill": (
        "console.commands.drill:drill",
        "Break a phone under a session; report what was lost.",
    ),
    "env": (
        "console.commands.research.environment:environment",
        "Serve virtual phones as an environment.",
    ),
    "eval": (
        "console.commands.research.evaluate:evaluate",
        "Evaluate models on exercises; compare runs.",
    ),
    "bench": ("console.commands.bench:bench", "Run benchmarks; needs a source checkout."),
    "protocol": ("console.commands.protocol:protocol", "Print the protocol and command reference."),
    "mcp": ("console.commands.mcp:mcp", "Serve phones and sessions to any MCP client."),
    "completion": ("console.commands.completion:completion", "Print a shell's completion script."),
}
OPEN = "console.commands.console:open_console"  # What the command does by itself.


def _load(place: str) -> Any:
    module_name, attribute = place.split(":")
    return getattr(importlib.import_module(module_name), attribute)


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List names in the order of the table, which is the order of a first reading."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command = _load(entry[0])
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest the nearest names."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.exceptions.NoSuchCommand(name, possibilities=COMMANDS, ctx=ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete names without importing any command."""
        from click.shell_completion import CompletionItem

        names = (name for name in COMMANDS if name.startswith(incomplete))
        completed = [CompletionItem(name, help=COMMANDS[name][1]) for name in names]
        return [*completed, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command list without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[1]) for name, entry in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Run 'switchboard COMMAND --help' for examples. SWITCHBOARD_DATA_DIR moves everything"
    " that is written; SWITCHBOARD_CONFIG names another settings file.",
)
@click.option(
    "--data-dir", type=click.Path(file_okay=False), metavar="DIR", help="Use this data directory."
)
@click.option(
    "--config",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Read settings from this file.",
)
@click.option(
    "--fleet",
    metavar="DSN",
    help="Use this PostgreSQL database, or the one named in @FILE, instead of SQLite.",
)
@click.option(
    "--core", metavar="ADDRESS", help="Connect to a core on another computer: tls://HOST:PORT."
)
@click.version_option(package_name="switchboard-console", prog_name="switchboard")
@click.pass_context
def cli(
    ctx: click.Context,
    data_dir: str | None,
    config: str | None,
    fleet: str | None,
    core: str | None,
) -> None:
    """Watch and steer agents that operate Android phones.

    Without a command, open the console on the phones that adb sees.
    """
    ctx.obj = {"data_dir": data_dir, "config": config, "fleet": fleet, "core": core}
    if ctx.invoked_subcommand is None:
        _load(OPEN)(ctx)


def main(argv: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    from console.cli_support.exits import run_command

    # Reports, exports, pictures and logs show what a phone showed: only this user reads them.
    os.umask(0o077)
    raise SystemExit(run_command(cli, argv))
