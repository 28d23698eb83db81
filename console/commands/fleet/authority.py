"""`switchboard fleet authority`: a private authority, and certificates for hosts and callers.

It works on a directory of files alone, and needs no core, no database and no network.
"""

from datetime import datetime, timedelta
from pathlib import Path

import click

from agent.errors import UsageError
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.cli_support.sections import CommandGroup
from console.cli_support.time_parsing import duration_ms

_DIRECTORY = click.argument("directory", type=click.Path(file_okay=False, path_type=Path))


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  switchboard fleet authority init ~/authority
  switchboard fleet authority issue ~/authority rack-2 --name rack-2.lan --name 10.0.0.12
  switchboard fleet authority issue ~/authority ana --caller
  switchboard fleet authority list ~/authority

Keep the directory on a computer that is not a host. Give each host its NAME.pem and NAME.key, and
everyone authority.pem. authority.key never leaves the directory.
""",
)
def authority() -> None:
    """Create certificates for TLS between hosts and consoles."""


@authority.command()
@_DIRECTORY
def init(directory: Path) -> None:
    """Create an authority in DIRECTORY, valid for ten years."""
    from agent.tls.authority import CERTIFICATE, now_utc
    from agent.tls.authority import init as make

    ends = make(directory, now_utc())
    say(f"The authority in {directory} is valid until {ends:%Y-%m-%d}.")
    say(f"Copy {directory / CERTIFICATE} to every host and console; keep its key here.")
    end(ExitCode.DONE)


@authority.command(
    epilog="To renew it, issue it again under the same name; a listening core picks it up."
)
@_DIRECTORY
@click.argument("host")
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="A host name or IP address of the host; repeatable. Default: HOST.",
)
@click.option("--for", "life", default="90d", show_default=True, help="How long it is valid.")
@click.option("--caller", is_flag=True, help="For a client, not a host.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the two files to this directory instead.",
)
def issue(
    directory: Path, host: str, names: tuple[str, ...], life: str, caller: bool, output: Path | None
) -> None:
    """Issue or renew HOST's certificate and key, with the authority in DIRECTORY."""
    from agent.tls.authority import issue as make
    from agent.tls.authority import now_utc

    if caller and names:
        raise UsageError("A caller has no host names.", "Leave out --name or --caller.")
    made = make(
        directory,
        host,
        names,
        now_utc(),
        life=timedelta(milliseconds=duration_ms(life)),
        is_caller=caller,
        output=output,
    )
    what = "who connects" if caller else ", ".join(made.issued.names)
    say(f"The certificate of {host}, for {what}, is valid until {_day(made.issued.expires_ms)}.")
    click.echo(made.certificate)
    click.echo(made.key)
    end(ExitCode.DONE)


@authority.command("list")
@_DIRECTORY
@JSON_OPTION
def list_command(directory: Path, as_json: bool) -> None:
    """List the newest certificate for each name issued by DIRECTORY; mark those expiring soon."""
    from agent.rpc.tls_listener import SOON
    from agent.tls.authority import listed, now_utc

    ends, found = listed(directory)
    now_ms = now_utc().timestamp() * 1000
    if as_json:
        plain.print_json(
            {
                "expiresMs": int(ends.timestamp() * 1000),
                "issued": [plain.as_builtins(one) for one in found],
            }
        )
        end(ExitCode.DONE)
    rows = []
    for one in found:
        left_ms = one.expires_ms - now_ms
        state = "expired" if left_ms <= 0 else ""
        if 0 < left_ms < SOON.total_seconds() * 1000:
            state = "renew it"
        rows.append(
            (one.name, ", ".join(one.names) or "a caller", _day(one.expires_ms), state or "-")
        )
    say(f"The authority is valid until {ends:%Y-%m-%d}.")
    plain.print_text(plain.columns(("NAME", "FOR", "UNTIL", "STATE"), rows))
    end(ExitCode.DONE)


def _day(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
