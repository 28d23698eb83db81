"""Open a web address or a page of the settings."""

from collections.abc import Mapping
from typing import Annotated, ClassVar
from urllib.parse import urlsplit

import msgspec

from agent.devices.protocols import Device, OpensLinks
from agent.errors import DeviceError
from agent.records import Observation, Session
from agent.safety.effects.acts import Act, ActKind
from agent.safety.redacting.redaction import redact_secrets
from agent.text import one_line
from agent.tools.arguments import BadArguments
from agent.tools.planned_action import PhoneTool, ResolvedAction
from agent.tools.relaunch import refuse_relaunch

MAX_LINK_CHARS = 2000
SETTINGS_PREFIXES = ("android.settings.",)
SETTINGS_APP = "com.android.settings"
LINK_SCHEMES = frozenset({"http", "https", "geo", "tel", "sms", "smsto", "mailto", "market"})
"""What a link may begin with: none of these hands a file or an app's own component over."""


class OpenLink(PhoneTool, frozen=True, kw_only=True):
    """Open a web address or a settings page."""

    tool_name = "open_link"
    moves_view = True
    verbs: ClassVar[Mapping[str, str]] = {"Opened": "Open"}

    link: Annotated[
        str, msgspec.Meta(description="https://… or a page such as android.settings.WIFI_SETTINGS.")
    ]

    def resolve(self, screen: Observation) -> ResolvedAction:
        shown = redact_secrets(one_line(check_link(self.link), 100))
        return ResolvedAction(action=self, said=f"Opened {shown}", package=self._package)

    async def perform(self, resolved: ResolvedAction, device: Device, session: Session) -> str:
        if not isinstance(device, OpensLinks):
            raise DeviceError(
                f"Nothing opens links on this display of {device.serial}.",
                "Open the app, and navigate there.",
            )
        refuse_relaunch(device, session, f"am start {self.link}")
        await device.open_link(self.link.strip())
        return ""

    def acts(self, resolved: ResolvedAction) -> tuple[Act, ...]:
        if self._package:
            return (Act(kind=ActKind.LAUNCH, package=self._package),)
        return (Act(kind=ActKind.OPEN_LINK, link=self.link.strip()),)

    @property
    def _package(self) -> str:
        """The app that opens it, where that is known; empty: it is not."""
        return SETTINGS_APP if self.link.strip().startswith(SETTINGS_PREFIXES) else ""


def check_link(link: str) -> str:
    """Return a link that may be opened. Raises BadArguments for any other."""
    text = link.strip()
    if not text or len(text) > MAX_LINK_CHARS or not text.isprintable() or " " in text:
        raise BadArguments("`link` must be one address without spaces")
    if text.startswith(SETTINGS_PREFIXES):
        if not all(part.isidentifier() for part in text.split(".")):
            raise BadArguments("`link` is not a settings page, such as android.settings.SETTINGS")
        return text
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise BadArguments("`link` is not an address") from error
    if parts.scheme.casefold() not in LINK_SCHEMES:
        raise BadArguments(
            "`link` must begin with https:// or another of "
            f"{', '.join(sorted(LINK_SCHEMES))}, or be a page of android.settings"
        )
    if parts.scheme.casefold() in {"http", "https"} and not parts.hostname:
        raise BadArguments("`link` names no host")
    return text
