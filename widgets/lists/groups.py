"""Put the rows of a list under headings: the same for every list; by host, with how the host is.

Pure. Invariant: every row is listed once, in the order that it had, under one heading.
"""

from collections.abc import Iterable, Mapping

from agent.records import HostInfo
from agent.text import one_line
from widgets.base.formatting import natural
from widgets.base.rows import Line, Row
from widgets.lists.hosts import host_words

HEADING = "heading:"  # What the key of a heading begins with.
NO_HOST = "no host"


def heading_row(name: str, members: int, host: HostInfo | None = None, *, more: str = "") -> Row:
    """Write the heading of a group.

    Args:
        name: of the group.
        members: how many rows stand under it.
        host: the host that the group is of, if any.
        more: what stands behind the number: "+" where not all were read.
    """
    text = f"{one_line(name, 60)}  {members}{more}"
    return Row(
        f"{HEADING}{name}", (Line(((text, "bold $muted"),), host_words(host)),), is_heading=True
    )


def host_rank(name: str) -> tuple[bool, object]:
    """Return what hosts are ordered by: what is at none comes last."""
    return name in {"", NO_HOST}, natural(name)


def by_host(
    rows: Iterable[tuple[str, Row]], hosts: Mapping[str, HostInfo], *, more: str = ""
) -> list[Row]:
    """Group rows, each given with its host, under a heading for each host.

    Args:
        hosts: what is known of the hosts, by name.
        more: see `heading_row`.
    """
    groups: dict[str, list[Row]] = {}
    for host, row in rows:
        groups.setdefault(host or NO_HOST, []).append(row)
    listed: list[Row] = []
    for name in sorted(groups, key=host_rank):
        listed.append(heading_row(name, len(groups[name]), hosts.get(name), more=more))
        listed += groups[name]
    return listed
