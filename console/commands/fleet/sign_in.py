"""`switchboard sign-in` and `sign-out`: at a core that has operators, by an account.

Invariant: neither the ID token nor the core's own token is printed, or taken from an argument.
"""

import asyncio

import click

from console.cli_support.exits import ExitCode, end, say


@click.command(
    "sign-in",
    epilog="""\b
It shows an address and a code. Open the address in any browser, also on
another computer, and enter the code. The core then issues a token, which is
stored beside the settings file (mode 600) until it expires.

\b
Examples:
  switchboard sign-in
  switchboard --core tls://rack-1.lan:8439 sign-in

Needs oidc.issuer and oidc.client_id, both here and on the core.
""",
)
@click.pass_context
def sign_in(ctx: click.Context) -> None:
    """Sign in to a core with your account at an OpenID issuer."""
    from console.core.command_settings import settings_for
    from console.core.signing_in import sign_in as signed_in

    if asyncio.run(signed_in(settings_for(ctx))) is None:
        say("This core has no operators: nothing to sign in to.")
    end(ExitCode.DONE)


@click.command("sign-out")
@click.pass_context
def sign_out(ctx: click.Context) -> None:
    """Sign out of a core, and delete its token."""
    from console.core.command_settings import settings_for
    from console.core.signing_in import sign_out as signed_out

    done = asyncio.run(signed_out(settings_for(ctx)))
    say("You are signed out." if done else "There was no sign-in.")
    end(ExitCode.DONE)
