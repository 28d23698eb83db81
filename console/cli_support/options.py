"""Options that commands of every room share."""

from __future__ import annotations

import click

JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
