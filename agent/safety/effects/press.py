"""Find what a press of one element would do: by its own words, then by where it stands.

First what the element says of itself, in any of the languages, by its resource id or its icon; then
the dialog, the form or the payment that it belongs to, whatever it is called. What leads nowhere
but to another page is let pass.
"""

import dataclasses
import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from agent.language.fold import skeleton
from agent.records import EffectVerb, Element
from agent.safety.effects.amounts import amounts
from agent.safety.effects.context import Context
from agent.safety.effects.finding import Finding, named, worst
from agent.safety.effects.labels import PERMISSION_APPS, find_named, is_only_written
from agent.safety.effects.lexicon import OUTCOMES, Meaning, Reading, read
from agent.safety.effects.page import (
    ASKING,
    HEAD,
    Page,
    is_digit,
    is_slider,
    looks_refusing,
    own_id,
)
from agent.safety.effects.structure.charges import find_charge
from agent.safety.effects.structure.dialogs import find_agreeing
from agent.safety.effects.structure.ending import (
    LEAVING,
    commits_as_refusal,
    ends,
    is_nameless,
    is_next_step,
    is_unread_choice,
    is_way_out,
    sign_of,
)
from agent.safety.effects.structure.fields import is_search
from agent.safety.effects.structure.impersonation import find_impersonation
from agent.safety.effects.structure.outcome import find_outcome
from agent.safety.effects.structure.people import find_reaching
from agent.safety.effects.structure.persons import find_shared_choice
from agent.safety.effects.structure.purposes import find_purpose
from agent.safety.effects.structure.shade import find_in_shade
from agent.safety.effects.structure.system_pages import find_on_system_page
from agent.safety.effects.verbs import RULES
from agent.safety.effects.verdict import Risk
from agent.safety.words import id_words, is_price, words

V = EffectVerb
M = Meaning
_OWN: tuple[tuple[Meaning, EffectVerb], ...] = (
    (M.CANCEL, V.CANCEL),
    (M.ARCHIVE, V.DELETE),
    (M.WIPE, V.DELETE),
    (M.OVERWRITE, V.OVERWRITE),
    (M.SIGN_OUT, V.SIGN_OUT),
    (M.LEAVE, V.CANCEL),
    (M.PUBLISH, V.PUBLISH),
    (M.CARRY, V.CARRY_OUT),
    (M.SIGN_UP, V.SIGN_IN),
    (M.UNLOCK, V.PROTECTION),
)
"""What a button's own words are, beside the phrasebook's."""
_ASKED: tuple[tuple[Meaning, EffectVerb], ...] = (
    (M.CANCEL, V.CANCEL),
    (M.WIPE, V.DELETE),
    (M.OVERWRITE, V.OVERWRITE),
    (M.ARCHIVE, V.DELETE),
    (M.SIGN_OUT, V.SIGN_OUT),
    (M.LEAVE, V.CANCEL),
    (M.REMOVE, V.DELETE),
    (M.AIRPLANE, V.CUT_CONNECTION),
    (M.PROTECTION, V.PROTECTION),
    (M.PERMIT, V.GRANT),
    (M.PUBLISH, V.PUBLISH),
    (M.CARRY, V.CARRY_OUT),
)
"""What a dialog asks about."""
_ID_VERBS: dict[str, EffectVerb] = {
    "archive": V.DELETE,
    "trash": V.DELETE,
    "bin": V.DELETE,
    "logout": V.SIGN_OUT,
    "signout": V.SIGN_OUT,
    "publish": V.PUBLISH,
    "overwrite": V.OVERWRITE,
    "wipe": V.DELETE,
    "unsubscribe": V.CANCEL,
    "refund": V.CANCEL,
    "call": V.CALL,
    "huddle": V.CALL,
    "dial": V.CALL,
    "pay": V.SPEND,
    "buy": V.SPEND,
    "purchase": V.SPEND,
}
"""What icons say by their resource ids; ids are English in every language."""
_ID_LEAVES = frozenset({"cancel", "negative", "dismiss", "back", "close", "no", "keep", "later"})
_ID_OPENS = frozenset({"history", "list", "folder", "tab", "settings", "nav", "navigation", "log"})
_SIGNS: dict[str, EffectVerb] = {
    "🗑": V.DELETE,
    "🚮": V.DELETE,
    "❌": V.DELETE,
    "📤": V.SEND,
    "📨": V.SEND,
    "➤": V.SEND,
    "➢": V.SEND,
    "✈": V.SEND,
    "📞": V.CALL,
    "☎": V.CALL,
    "💸": V.SPEND,
    "💳": V.SPEND,
    "💰": V.SPEND,
    "🛍": V.SPEND,
}
_BOUND = re.compile(
    "google|apple|facebook|group|follow|authorize|connect|link|agree|accept|rsvp|friend|zustimm"
    "|invit|einlad|convi|пригла|запрош|mời|undang|davet|zapros|uitnod|入|加|招待|초대|دعو|เชิญ"
    "|הזמנ|न्योता"
)
"""In a label that makes an account: it binds one that is there, or accepts, without a form."""
_LETTERS = str.maketrans(
    {"3": "e", "4": "a", "7": "t", "@": "a", "$": "s", "!": "i", "|": "l", "€": "e"}
)
_LEET = re.compile(r"(?=[\w@$!|€]*[A-Za-z][\w@$!|€]*[A-Za-z])[\w@$!|€]*[347@$!|€][\w@$!|€]*")
"""A word of letters and of signs that stand for letters."""
_NOTICES = re.compile(
    "notif|notice|alert|reminder|receipt|benachricht|erinner|rappel|aviso|avviso|promemoria|melding"
    "|powiadom|bildirim|уведомл|сповіщ|pemberitahuan|thông báo|通知|提醒|알림|إشعار|تنبيه|सूचना"
    "|แจ้งเตือน|התראות|התראה",
    re.I,
)
"""In the name of a switch that only says whether one is told."""
_NOT_OWN = frozenset({"reset", "revert", "lose", "permanently"})
_PURPOSES: tuple[tuple[Meaning, EffectVerb], ...] = (
    (M.CANCEL, V.CANCEL),
    (M.WIPE, V.DELETE),
    (M.OVERWRITE, V.OVERWRITE),
    (M.SIGN_OUT, V.SIGN_OUT),
    (M.CARRY, V.CARRY_OUT),
    (M.UPLOAD, V.CARRY_OUT),
)
"""What a page is for by its title, whatever its last button is called."""
_VAGUE = frozenset({V.SEND, V.PUBLISH, V.UNKNOWN, V.PROTECTION})
"""What a button's words mean where nothing is paid."""
_BULLETS = re.compile(r"(?:^|\| )[•●∙·*]{4,}\s*$")
"""A password as it is drawn: bullets, and no digit."""
_MAX_BUTTON_WORDS = 6
_SAME_LINE = 0.02
"""How far apart, in heights of the screen, the middles of buttons of one line are."""
_ANSWERS = range(2, 5)
_THREE_WAYS = 3
_SHORT_WORDS = 3  # A button of so few words says what it does anywhere in them: "Jetzt kündigen".


def find_press(
    element: Element, page: Page, context: Context, *, stroke: bool = False
) -> Finding | None:
    """Find what a press of an element would do; None: nothing beyond the phone's own view.

    Args:
        stroke: it is not pressed but slid.
    """
    if element.editable:
        return None
    heads = element.label == page.title and element.bounds.center_y < HEAD and page.pressables
    if heads and not (element.clickable or stroke or page.is_dialog or is_slider(element)):
        return None
    if not (element.clickable or element.checkable or element.long_clickable or stroke):
        # A text takes its touch to whatever is around it, which may have no element of its own.
        own_words = _own(element, page, context) if not page.is_row(element) else None
        return named("own words", own_words)
    if page.is_calculator:
        return None
    answers = named("invitation", _answers_invitation(element, page))
    if answers is not None:
        return answers
    own = read(element.label).whole
    if M.MEDIA in own or (_among_media(element, page) and M.SOCIAL not in own):
        return None
    weakens = named("screen lock", _weakens(element, page))
    if weakens is not None or _refuses(element, page):
        return weakens
    if is_digit(element):
        return named("keypad", _digit(element, page, context))
    if _is_backspace(element, page):
        return None
    known = _match(_BY_ITSELF, element, page, context)
    if page.is_dialog:
        known = worst((known, named("dialog", _in_dialog(element, page, context))))
    if known is not None and (known.verb not in _VAGUE or page.composer is not None):
        return known
    # What "submits" or "broadcasts" on a page that charges somebody pays.
    charge = worst(
        (
            named("payment", _commits_payment(element, page, context, stroke=stroke)),
            named(
                "charge",
                find_charge(element, page, context, stroke=stroke, named=known is not None),
            ),
        )
    )
    if known is not None or charge is not None:
        return worst((known, charge))
    return _match(_BY_PAGE, element, page, context)


def _answers_invitation(element: Element, page: Page) -> Finding | None:
    """Find an answer to an invitation: yes, no or maybe side by side, told to who invited.

    A filter has such buttons too, so the line asks whether one comes, or one button is in doubt.
    """
    if not element.clickable or element.checkable or len(words(element.label)) > _SHORT_WORDS:
        return None
    middle = element.bounds.center_y
    beside = [element, *(e for e in page.beside(element, _SAME_LINE) if not e.checkable)]
    refuses = any(M.REFUSE in read(e.label).whole or looks_refusing(e) for e in beside)
    doubts = any(M.MAYBE in read(e.label).whole for e in beside)
    asks = any(
        M.ATTEND in read(e.label).whole
        for e in page.elements
        if not e.clickable and e.bounds.center_y < middle
    )
    asked = asks and len(beside) in _ANSWERS and (refuses or doubts)
    if not asked and not (doubts and refuses and len(beside) == _THREE_WAYS):
        return None
    said = f'"{element.label[:60]}" answers an invitation, which tells who invited'
    return Finding(V.SEND, said, element=element)


def _refuses(element: Element, page: Page) -> bool:
    title = element.label.split(" | ", 1)[0]
    ids = set(id_words(element.resource_id))
    if M.LEAVE in read(title).whole and page.is_dialog and M.PERMIT in page.statement.found:
        # "Block" beside "Allow".
        return _has_other_way(element, page)
    if not looks_refusing(element) or commits_as_refusal(element, page):
        return False
    own = find_named(element)
    if element.more and own is not None:
        return False
    if ids & _ID_LEAVES:
        return not (M.CANCEL in page.question.found and not _has_other_way(element, page))
    if own is not None and not any(app in element.package for app in PERMISSION_APPS):
        return False
    if M.CANCEL in page.question.found and not _has_other_way(element, page):
        # "Cancel your order?" with "Cancel" and "Keep it": the one that cancels is no way out.
        return M.PROCEED not in read(title).found and _keeps(title)
    return True


def _has_other_way(element: Element, page: Page) -> bool:
    """Return whether another button of a dialog does what it asks about."""
    return any(
        e is not element and not page.is_toolbar(e) and not looks_refusing(e)
        for e in page.pressables
    )


def _keeps(title: str) -> bool:
    said = words(title)
    return not said or said[0] not in {"cancel", "abbrechen", "annuler", "cancelar", "annulla"}


def _is_backspace(element: Element, page: Page) -> bool:
    """Return whether a key takes back what was typed on a keypad, or empties a search."""
    ids = own_id(element)
    said = words(element.label)
    if page.digits and (
        said[:1] in {("delete",), ("backspace",), ("clear",), ("del",), ()}
        or any(name in ids for name in ("del", "back", "clear", "erase"))
        or M.WIPE in read(element.label).head
    ):
        return True
    searches = any(is_search(f) for f in page.fields)
    return searches and ("clear" in said[:1] or "clear" in ids or "close" in ids)


def _own(element: Element, page: Page, context: Context) -> Finding | None:
    title = element.label.split(" | ", 1)[0]
    reading = read(title)
    if page.is_instrument and M.RESET in reading.whole:
        return None
    paying = context.flow.verb is V.SPEND
    if page.is_row(element) and page.keeps_entries and not paying and is_only_written(element):
        # It opens what somebody called so, as a note "Delete account, step by step".
        return None
    if M.PROTECTION in reading.found and not page.is_dialog and len(words(title)) <= 4:
        # "Install unknown apps" is a page of the settings, and installs nothing; see `_switch`.
        return None
    if M.CANCEL in reading.whole and element.clickable:
        # Its words may hold those of ordering: 注文をキャンセル.
        said = f'"{element.label[:60]}" may {RULES[V.CANCEL].says}'
        return Finding(V.CANCEL, said, element=element)
    if M.CARRY in reading.whole and element.clickable:
        said = f'"{element.label[:60]}" may {RULES[V.CARRY_OUT].says}'
        return Finding(V.CARRY_OUT, said, element=element)
    named = find_named(element)
    in_text = named is not None and named.verb in {V.SPEND, V.DELETE}
    if in_text and page.is_row(element) and page.lists_messages:
        # What somebody wrote stands in the row; only its name is the row's own.
        named = find_named(replace(element, label=title, more=""))
    if named is not None and named.verb is V.SPEND and page.is_row(element):
        if page.lists_entries and not paying and is_only_written(element):
            named = None
    elif named is None and _LEET.search(element.label):
        plain = _LEET.sub(lambda m: m[0].translate(_LETTERS), element.label)
        named = find_named(replace(element, label=plain))
    if named is not None and named.verb is V.SPEND and _is_chip(element, page):
        return None
    if named is not None:
        opens = _only_opens(named.verb, element, reading, page, context)
        return None if opens else dataclasses.replace(named, element=element)
    if not (element.clickable or element.checkable):
        return None
    verb = _by_words(element, reading, page) or _by_id(element, page)
    if verb is None or _only_opens(verb, element, reading, page, context):
        return None
    return Finding(verb, f'"{element.label[:60]}" may {RULES[verb].says}', element=element)


def _is_chip(element: Element, page: Page) -> bool:
    """Return whether an element is one of several amounts to choose from, before a last button."""
    alike = [e for e in page.pressables if e is not element and is_price(e.label)]
    return (
        is_price(element.label)
        and len(alike) > 1
        and any(ends(e, page) for e in page.pressables if e not in alike and e is not element)
    )


def _by_words(element: Element, reading: Reading, page: Page) -> EffectVerb | None:
    title = element.label.split(" | ", 1)[0]
    said = words(title)
    if len(said) > _MAX_BUTTON_WORDS and title.isascii():
        return None
    row = page.is_row(element)
    for meaning, verb in _OWN:
        short = len(said) <= _SHORT_WORDS and M.OPENER not in reading.head
        where = reading.found if short or meaning is M.CARRY else reading.head
        if meaning is M.UNLOCK:
            where = reading.head if short and not page.is_listed(element) else reading.whole
        if meaning not in (reading.whole if row else where):
            continue
        if meaning is M.WIPE and (page.is_instrument or " ".join(said) in _NOT_OWN):
            continue
        return verb
    if len(title) <= 4:
        return next((v for sign, v in _SIGNS.items() if sign in title), None)
    return None


def _by_id(element: Element, page: Page) -> EffectVerb | None:
    ids = id_words(element.resource_id)
    if not ids or set(ids) & _ID_OPENS or len(ids) > 4 or page.is_row(element):
        return None
    speaks = any(map(str.isalpha, element.label)) and element.label != "unlabeled"
    if speaks and M.OPENER in read(element.label).found:
        return None
    return next((_ID_VERBS[word] for word in ids if word in _ID_VERBS), None)


def _only_opens(
    verb: EffectVerb, element: Element, reading: Reading, page: Page, context: Context
) -> bool:
    """Return whether what an element says only leads to a page where it can be done."""
    flow = context.flow
    if M.HANG_UP in reading.found or M.DRAFT in reading.found:
        return verb in {V.CALL, V.SEND}
    if M.CART in reading.found:
        return not amounts_with_pay(element)
    if M.FOLDER in reading.whole and _among_folders(element, page):
        return True
    if element.checkable and verb in {V.CALL, V.SEND}:
        # A switch about calls calls nobody.
        return True
    match verb:
        case V.SPEND:
            if page.is_basket and reading.found & {M.CHECKOUT, M.PROCEED}:
                return not page.has_payment_method
            return (
                page.is_home
                and page.is_tile(element)
                and not amounts(element.label)
                and flow.amount is None
                and page.amount_field is None
            )
        case V.SEND | V.PUBLISH | V.CARRY_OUT:
            if page.is_dialog or page.filled or flow.verb is V.SEND:
                return False
            if page.composer is not None and verb is not V.CARRY_OUT:
                return False
            if M.CARRY in reading.found or M.FOLDER in reading.found:
                return False
            if page.is_listed(element) and not page.fields and element.label.count(" ") > 0:
                # "Send feedback" in a list of places.
                return True
            alike = sum(e.label == element.label for e in page.pressables)
            return page.is_home and alike == 1
        case V.SIGN_IN:
            bound = _BOUND.search(skeleton(element.label)) is not None
            return not bound and not page.filled and not page.is_dialog
        case V.CALL:
            return page.is_home and page.is_tile(element) and page.is_row(element)
        case V.DELETE:
            if page.is_basket:
                return True
            return M.ARCHIVE in reading.found and _among_folders(element, page)
        case _:
            return False


def amounts_with_pay(element: Element) -> bool:
    """Return whether a button that speaks of a cart also pays at once."""
    return bool(amounts(element.label)) and M.MONEY in read(element.label).found


def _among_media(element: Element, page: Page) -> bool:
    """Return whether a word stands between "Play" and "Pause", where "Forward" sends nothing."""
    return any(M.MEDIA in read(e.label).whole for e in page.beside(element, _SAME_LINE))


def _among_folders(element: Element, page: Page) -> bool:
    """Return whether a word stands in a list of places, as a folder's name does."""
    others = [
        e
        for e in page.pressables
        if e is not element and M.FOLDER in read(e.label.split(" | ", 1)[0]).whole
    ]
    return len(others) >= 2


def _fills_secret(element: Element, page: Page) -> Finding | None:
    if not any(f.password for f in page.fields) or not _BULLETS.search(element.label):
        return None
    said = f'"{element.label[:60]}" fills a kept password in'
    return Finding(V.TYPE_SECRET, said, element=element)


def _switch(element: Element, page: Page, context: Context) -> Finding | None:
    """Find what a switch turns: what cuts the phone off, and what protects it."""
    reading = read(element.label.split(" | ", 1)[0])
    in_shade = "systemui" in element.package
    toggles = element.checkable or in_shade
    if not toggles:
        return None
    goal = read(context.goal).found
    name = element.label[:60]
    if M.AIRPLANE in reading.found and not element.checked and M.AIRPLANE not in goal:
        return Finding(V.CUT_CONNECTION, f'"{name}" cuts the phone off', element=element)
    if (
        M.NETWORK in reading.whole | reading.head
        and element.checkable
        and element.checked
        and M.NETWORK not in goal
    ):
        return Finding(V.CUT_CONNECTION, f'"{name}" may cut the phone off', element=element)
    protects = M.PROTECTION in reading.found
    on = words(element.label.split(" | ", 1)[0])
    title = read(page.title).found
    if "accessibilitysettings" in page.screen.foreground.activity.casefold():
        # The page of all its settings: a service has a page of its own.
        title = frozenset()
    if not protects and M.PROTECTION in title and M.DEVELOPER not in title:
        # A page about one protection has its main switch, and a list of apps that may use it.
        protects = element.kind in {"switch", "checkbox", "radio"} or on[:1] in {("use",), ("on",)}
    locks = words(page.title)[-1:] == ("lock",) or M.LOCK in read(page.title).whole
    guards = locks and element.kind == "switch" and element.checked
    pays = M.MONEY in reading.found and element.kind == "switch" and not page.is_dialog
    if protects or guards or (pays and not _NOTICES.search(element.label)):
        said = f'"{name}" changes what protects this phone'
        return Finding(V.PROTECTION, said, element=element)
    if "permissioncontroller" in element.package and element.kind == "radio":
        return Finding(V.GRANT, f'"{name}" may let an app have a permission', element=element)
    return None


def _in_dialog(element: Element, page: Page, context: Context) -> Finding | None:
    """Find what the button of a dialog agrees to, whatever it is called."""
    if page.is_toolbar(element):
        return None
    asked = page.question.found
    choices = [e for e in page.pressables if not page.is_toolbar(e)]
    alone = len(choices) == 1
    said = read(element.label)
    if M.OPENER in said.head and not said.found & {M.PROCEED}:
        return None
    about = f'of "{page.title[:60]}"' if page.title else "of this dialog"
    found = asked if alone else asked | page.statement.found
    if is_unread_choice(element, page) and is_way_out(element, choices):
        # What the title asks about decides alone where no button can be read.
        found = asked
    # What the question says comes before what the message does.
    for meaning, verb in (
        *((m, v) for m, v in _ASKED if m in asked),
        *((m, v) for m, v in _ASKED if m in found - asked),
    ):
        if meaning is M.WIPE and page.is_instrument:
            continue
        if meaning is M.AIRPLANE and M.AIRPLANE in read(context.goal).found:
            continue
        if meaning in {M.PUBLISH, M.CARRY, M.ARCHIVE, M.REMOVE} and meaning not in asked:
            # In a message these words speak of what an app is for.
            continue
        reason = f'"{element.label[:60]}" {about} may {RULES[verb].says}'
        return Finding(verb, reason, element=element)
    if M.MONEY in asked and not alone and page.refusals and page.title.rstrip().endswith(ASKING):
        reason = f'"{element.label[:60]}" {about} may {RULES[V.SPEND].says}'
        return Finding(V.SPEND, reason, element=element)
    if page.title:
        named = replace(element, label=page.title.rstrip("?？؟ "), more="", resource_id="")
        titled = find_named(named)
        if titled is not None and titled.risk is not Risk.DISGUISED:
            verb = titled.verb
            if verb is not V.GRANT and not (alone and verb is V.SPEND and not page.stake):
                reason = f'"{element.label[:60]}" {about} may {RULES[verb].says}'
                return Finding(verb, reason, element=element)
    return None


def _digit(element: Element, page: Page, context: Context) -> Finding | None:
    """Find what a digit of a keypad does: the last one of a PIN commits what it protects."""
    if not page.digits:
        return None
    flow = context.flow
    paying = flow.verb is V.SPEND
    others = [
        e
        for e in page.pressables
        if not is_digit(e)
        and not _is_backspace(e, page)
        and not looks_refusing(e)
        and not page.is_toolbar(e)
        and len(e.label) > 1
    ]
    dials = any(
        word in {"dial", "call"} for e in page.pressables for word in id_words(e.resource_id)
    ) or any("call" in words(e.label) for e in others)
    if dials:
        return None
    if page.is_pin_page or (paying and not others and page.amount_field is None):
        if paying or (page.speaks_of_money and page.stake):
            said = "the code lets the payment pass"
            return Finding(V.SPEND, said, element=element)
        return Finding(V.TYPE_SECRET, "the keypad takes a secret", element=element)
    return None


def _commits_payment(
    element: Element, page: Page, context: Context, *, stroke: bool
) -> Finding | None:
    """Find that a button commits a payment, by the form or the flow that it ends."""
    flow = context.flow
    paying = flow.verb is V.SPEND and page.package in {flow.package, element.package}
    here = page.speaks_of_money and bool(page.stake)
    if not (here or paying):
        return _hands_to_payee(element, page)
    done = M.DONE in read(element.label).whole or (
        flow.approval is not None and flow.approval.effect.verb is V.SPEND
    )
    if page.says_done and done:
        return None
    stake = page.stake or (flow.amount.text if flow.amount else "")
    if not stake and not page.is_pin_page:
        return _hands_to_payee(element, page)
    reading = read(element.label.split(" | ", 1)[0])
    slides = is_slider(element) or stroke
    if not slides and _is_choice(element, reading, page):
        return None
    if page.is_basket and not page.has_payment_method and not slides:
        return None
    said = f'"{element.label[:60]}" may let {stake or "the payment"} pass'
    unlabeled = is_nameless(element)
    if (
        slides
        or is_next_step(element)
        or reading.found & {M.PROCEED, M.PIN}
        or page.is_pin_page
        or page.is_dialog
    ):
        return Finding(V.SPEND, said, element=element)
    if _leads_on(element, page):
        return None
    wide = element.bounds.right - element.bounds.left > 0.4
    low = element.bounds.center_y > 0.55
    # Where one still chooses what pays, "Done" does not leave a page that only tells.
    telling = {M.OPENER, M.DONE} if page.chooses_payment_method else {M.OPENER}
    # What a label is all about, or begins with: words further on are anybody's.
    known = bool((reading.whole | reading.head) - telling - OUTCOMES)
    if known and not reading.found & {M.MONEY}:
        return None
    if unlabeled and page.is_toolbar(element):
        return None
    recipient = bool(page.recipient) or flow.recipient is not None
    if wide or low or recipient or page.amount_field is not None:
        return Finding(V.SPEND, said, element=element)
    return None


def _hands_to_payee(element: Element, page: Page) -> Finding | None:
    """Find that a form about money, which names who gets it and not how much, is handed in."""
    named = Meaning.MONEY in read(page.title).found and page.recipient
    if not named or page.says_done or not is_next_step(element) or not page.is_last_button(element):
        return None
    said = (
        f'"{element.label[:60]}" of "{page.title[:60]}" changes what "{page.recipient[:40]}" gets'
    )
    return Finding(V.SPEND, said, element=element)


def _leads_on(element: Element, page: Page) -> bool:
    last = next((e for e in page.pressables if page.is_last_button(e)), None)
    if last is None or last is element or not last.class_name.endswith("Button"):
        return False
    line = element.class_name.endswith(("ViewGroup", "Layout"))
    return line and element.bounds.bottom <= last.bounds.top


def _ends_page(element: Element, page: Page) -> Finding | None:
    """Find that a button goes on with what the whole page is for: to return, to erase."""
    if page.is_dialog or page.is_instrument or page.is_row(element) or page.is_tile(element):
        return None
    title, reading = read(page.title), read(element.label.split(" | ", 1)[0])
    if not ends(element, page) or M.DONE in reading.whole & title.found:
        return None
    for meaning, verb in _PURPOSES:
        if meaning in title.head | title.whole:
            said = f'"{element.label[:60]}" of "{page.title[:60]}" may {RULES[verb].says}'
            return Finding(verb, said, element=element)
    return None


def _is_choice(element: Element, reading: Reading, page: Page) -> bool:
    """Return whether an element chooses, opens or goes back, and so commits nothing yet."""
    if page.is_row(element) or page.is_tile(element) or element.checkable:
        return True
    method = "••" in element.label or "**" in element.label
    if method and not reading.found & {M.PROCEED, M.MONEY} and not page.is_last_button(element):
        return True
    if M.OPENER in reading.found and M.PROCEED not in reading.head:
        # "Choose Economy" below a card, "Add tip": what ends a page that pays is no choice.
        named = M.MONEY in reading.found and M.OPENER not in reading.head
        pays = named or (page.has_payment_method and M.OPENER in reading.head)
        return M.OPENER in reading.whole or not (pays and page.is_last_button(element))
    leads = reading.head & {M.CART, M.DRAFT, M.SEARCH, M.REFUSE}
    if (leads or sign_of(element) in LEAVING) and not reading.found & {M.PROCEED}:
        return True
    if page.is_toolbar(element) and M.PROCEED not in reading.found:
        return element.bounds.center_x < 0.3 or element.label != "unlabeled"
    ids = set(id_words(element.resource_id))
    if ids & {"minus", "plus", "increase", "decrease", "increment", "decrement", "add", "remove"}:
        return True
    if element.label.strip() in {"+", "-", "−", "–"}:
        return True
    # Amounts to choose from: chips of which each says a sum.
    chips = [e for e in page.pressables if amounts(e.label) and e is not element]
    return bool(amounts(element.label)) and len(chips) >= 2


def _commits_message(element: Element, page: Page, context: Context) -> Finding | None:
    """Find that a button sends what was written, by where it stands."""
    composer = page.composer
    if composer is None or not composer.value or page.is_dialog:
        return None
    reading = read(element.label.split(" | ", 1)[0])
    if page.is_row(element) or M.OPENER in reading.found or M.DRAFT in reading.found:
        return None
    unknown = not reading.found - OUTCOMES
    goes = M.PROCEED in reading.found or is_next_step(element)
    beside = (
        element.bounds.left >= composer.bounds.right - 0.03
        and element.bounds.top < composer.bounds.bottom + 0.02
        and element.bounds.bottom > composer.bounds.top - 0.02
    )
    said = f'"{element.label[:60]}" may send what was written'
    if beside and (unknown or goes):
        return Finding(V.SEND, said, element=element)
    last = is_next_step(element) or reading.found & {M.PUBLISH}
    right = page.is_toolbar(element) and element.bounds.left > 0.7 and unknown
    wide = element.bounds.right - element.bounds.left > 0.5 and unknown
    if last or right or wide:
        return Finding(V.SEND, said, element=element)
    return None


def _weakens(element: Element, page: Page) -> Finding | None:
    """Find that a row of the screen lock's page takes the lock away."""
    title, reading = read(page.title), read(element.label.split(" | ", 1)[0])
    locks = M.LOCK in title.whole and page.rows >= 2 and element.label != page.title
    if locks and M.LOCK in reading.whole:
        said = f'"{element.label[:60]}" takes the screen lock away'
        return Finding(V.PROTECTION, said, element=element)
    return None


def _chooses_target(element: Element, page: Page) -> Finding | None:
    """Find that a row of the share sheet gives the content to an app or a person."""
    package = element.package or page.package
    sheet = "intentresolver" in package or "chooser" in page.activity
    if not sheet or M.OPENER in read(element.label).head:
        return None
    said = f'"{element.label[:60]}" gets what is shared'
    return Finding(V.CARRY_OUT, said, element=element)


@dataclasses.dataclass(frozen=True, slots=True)
class PressRule:
    """One rule about a press: its name in the audit, and what finds something."""

    name: str
    find: Callable[[Element, Page, Context], Finding | None]


def _match(
    rules: Sequence[PressRule], element: Element, page: Page, context: Context
) -> Finding | None:
    """Return what weighs most of all that rules find; it names the others."""
    return worst(named(rule.name, rule.find(element, page, context)) for rule in rules)


_BY_ITSELF = (
    PressRule("own words", _own),
    PressRule("switch", _switch),
    PressRule("share sheet", lambda element, page, _: _chooses_target(element, page)),
    PressRule("system page", lambda element, page, _: find_on_system_page(element, page)),
    PressRule("shade", lambda element, page, _: find_in_shade(element, page)),
    PressRule("speaks as Switchboard", lambda element, page, _: find_impersonation(element, page)),
    PressRule("kept password", lambda element, page, _: _fills_secret(element, page)),
)
"""Rules about what an element says and where it stands by itself."""
_BY_PAGE = (
    PressRule("written message", _commits_message),
    PressRule("page's purpose", lambda element, page, _: _ends_page(element, page)),
    PressRule("other people", find_reaching),
    PressRule("shared choice", lambda element, page, _: find_shared_choice(element, page)),
    PressRule("activity's purpose", lambda element, page, _: find_purpose(element, page)),
    PressRule("agreement", lambda element, page, _: find_agreeing(element, page)),
    PressRule("outcome", lambda element, page, _: find_outcome(element, page)),
)
"""Rules about what a page is for, where neither its words nor a charge say what a press does."""
