"""Options that commands of every room share."""

import click

JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
