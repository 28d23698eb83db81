"""Find what a press in the notification shade does: a notification's action, a tile that protects.

A notification's action is done without its app being opened, so nothing else is shown of what it
does: "+30 min" pays, "Yes, it was me" lets a charge pass. Where it stands tells it apart, in any
language: a small button right below the line of a notification.
"""

import re

from agent.records import EffectVerb, Element
from agent.safety.effects.finding import Finding
from agent.safety.effects.lexicon import Meaning, read
from agent.safety.effects.page import Page
from agent.safety.effects.structure.ending import is_nameless, leads_away
from agent.safety.words import id_words

_SHADE = "systemui"
_NEAR = 0.03
_NARROW = 0.5
_SENSES = re.compile(
    r"mi[ck]ro(?:ph|f)|\bmic\b|[ck]amera|caméra|câmera|cámara|микрофон|мікрофон|камер|麦克风|麥克風|相机"
    r"|相機|摄像头|攝影機|マイク|カメラ|마이크|카메라|ميكروفون|كاميرا|माइक|कैमर|ไมโครโฟน|ไมค์|กล้อง"
    r"|מיקרופון|מצלמה|μικρόφων|μικροφών|κάμερα",
    re.IGNORECASE,
)
_TUNNELS = re.compile(
    r"\b(?:vpn|wireguard|openvpn|tailscale|zerotier|mullvad|nordvpn|expressvpn|surfshark|proton"
    r"|orbot|warp|strongswan|anyconnect|globalprotect|adguard|private dns)\b",
    re.IGNORECASE,
)
M = Meaning


def find_in_shade(element: Element, page: Page) -> Finding | None:
    """Find what a press in the shade does; None: nothing that needs a person, or no shade."""
    if _SHADE not in (element.package or page.package) or not element.clickable:
        return None
    tile = element.bounds.right - element.bounds.left < _NARROW
    if tile and (_SENSES.search(element.label) or _TUNNELS.search(element.label)):
        said = f'"{element.label[:60]}" changes what protects this phone'
        return Finding(EffectVerb.PROTECTION, said, element=element)
    if not (tile and _is_action(element, page)) or leads_away(element, page):
        return None
    if is_nameless(element):
        # A nameless one beside a reply is judged as what sends it.
        return None
    reading = read(element.label)
    known = {M.HARMLESS, M.OPENER, M.MEDIA, M.FOLDER, M.DRAFT, M.HANG_UP}
    if (reading.head | reading.whole) & known or not element.label.strip(" .·…"):
        return None
    said = f'"{element.label[:60]}" acts for a notification, whose app is not opened'
    return Finding(EffectVerb.UNKNOWN, said, element=element)


def _is_action(element: Element, page: Page) -> bool:
    """Return whether a button stands right below a notification, and is no foot of the shade."""
    if id_words(element.resource_id)[:1] in {("action",), ("action0",)}:
        return True
    above = [
        e
        for e in page.pressables
        if page.is_row(e) and 0 <= element.bounds.top - e.bounds.bottom < _NEAR and " | " in e.label
    ]
    # Below the last notification stand the shade's own: "Manage", "Clear all".
    last = max((e.bounds.bottom for e in page.pressables), default=0.0)
    rows = sum(page.is_row(e) for e in page.pressables)
    return bool(above) and not (element.bounds.bottom >= last and rows > 1)
