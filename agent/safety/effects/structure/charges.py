"""Find that a page's last button charges somebody: by what pays, by an amount, by a rate.

What pays has a proper name in every language: a brand, a masked number. A receipt names it too; it
is told apart by what this session has paid before, and by words that say so in the same line.
"""

import re
from functools import lru_cache

from agent.records import EffectVerb, Element
from agent.safety.effects.amounts import amounts, is_rate
from agent.safety.effects.context import Context
from agent.safety.effects.finding import Finding
from agent.safety.effects.lexicon import OUTCOMES, Meaning, read
from agent.safety.effects.page import Page, is_slider
from agent.safety.effects.structure.ending import (
    commits_as_refusal,
    ends,
    is_nameless,
    is_next_step,
    is_unread,
)
from agent.safety.words import is_price, words

V = EffectVerb
M = Meaning
_MASKED = re.compile(
    r"(?:[•·*∗●x×.]{2,}|\b(?:ending|endet|ends|finit|terminad\w|termina)\b(?:\s+\w{1,3})?)\s*\d{2,4}\b",
    re.I,
)
_BRANDS = re.compile(
    r"\b(?:visa|master\s?card|maestro|amex|american express|diners club|unionpay|rupay|girocard"
    r"|bancontact|paypal|klarna|afterpay|clearpay|apple pay|google pay|g\s?pay|samsung pay"
    r"|amazon pay|shop pay|cash app|venmo|zelle|paytm|phonepe|bhim|alipay|we\s?chat pay|line pay"
    r"|paypay|rakuten pay|kakao\s?pay|naver\s?pay|promptpay|gopay|grabpay|gcash|m-?pesa|mobilepay"
    r"|bizum|twint|mercado pago|sepa|store credit|play balance)\b"
    r"|支付宝|支付寶|微信支付|银联|花呗|카카오페이|네이버페이|삼성페이|楽天ペイ|(?:신용|체크|현대|삼성|신한|국민|롯데)카드",
    re.I,
)
_WHOLE = re.compile(r"(?:pix|blik|ideal|swish|vipps|upi|momo|ovo|dana|sofort|mir|discover)\b", re.I)
"""Names that are also words, or stand in others: only where a short line begins with them."""
_ROW_CLASSES = ("ViewGroup", "Layout")
_MAX_CHARS = 60
_MANY_PRICES = 4
_NAME_WORDS = 3
_FEW = 2


@lru_cache(maxsize=8192)
def names_payer(label: str) -> bool:
    """Return whether a short line names what pays: a card, a wallet, a bank's scheme."""
    if len(label) > _MAX_CHARS:
        return False
    return bool(
        _MASKED.search(label)
        or _BRANDS.search(label)
        or (len(label.split()) <= 2 and _WHOLE.match(label))
    )


def payers(page: Page) -> tuple[Element, ...]:
    """Return what a page names as paying, whether it can be changed or not."""
    return tuple(e for e in page.elements if not e.editable and names_payer(e.label))


def bare_amounts(page: Page) -> tuple[Element, ...]:
    """Return the texts that are an amount and at most its name: what a summary ends with."""
    return tuple(e for e in page.texts if is_price(e.label) or _is_named_amount(e.label))


@lru_cache(maxsize=8192)
def _is_named_amount(label: str) -> bool:
    found = amounts(label)
    if len(found) != 1 or len(label) > _MAX_CHARS:
        return False
    rest = label.replace(found[0], " ").strip()
    said = words(rest)
    # "Your balance is $12.00." is a sentence, and no line of a summary.
    return len(said) <= _NAME_WORDS and not (said and rest.endswith((".", "!", "。")))


def find_charge(
    element: Element, page: Page, context: Context, *, stroke: bool = False, named: bool = False
) -> Finding | None:
    """Find that an element commits a payment by what its page names; None: it does not.

    Args:
        stroke: it is not pressed but slid.
        named: its own words say that it sends or submits something.
    """
    if page.is_calculator or page.is_instrument:
        return None
    if not (named or stroke or ends(element, page) or is_slider(element)):
        return None
    if page.is_basket and not payers(page):
        return None
    plain = stroke or (named and bool(page.recipient)) or _is_plain(element, page)
    reason = _reason(element, page, context, plain=plain)
    if not reason:
        return None
    said = f'"{element.label[:60]}" ends a page that {reason}, and may let a payment pass'
    return Finding(V.SPEND, said, element=element)


def _reason(element: Element, page: Page, context: Context, *, plain: bool) -> str:
    asks = page.is_dialog and page.refusals and not _only_tells(page)
    if asks and any(amounts(e.label) for e in page.texts):
        return "asks about an amount"
    if plain and (found := [e for e in payers(page) if e is not element and not _is_past(e, page)]):
        if page.package in context.flow.paid and page.says_done:
            # The receipt of what this session has paid.
            return ""
        return f'names what pays: "{found[0].label[:40]}"'
    if page.says_done or page.composer is not None:
        return ""
    if any(_has_rate(e.label) for e in (*page.texts, *page.pressables)) and not _lists_prices(page):
        return "names a price for a time"
    if any(is_price(e.label) and (e.checked or e.selected) for e in page.pressables):
        return "has an amount chosen"
    if plain and bare_amounts(page) and not _lists_prices(page):
        return "sums up an amount"
    return ""


def _is_plain(element: Element, page: Page) -> bool:
    """Return whether a button says no more than that it goes on, or cannot be read."""
    if (
        is_next_step(element)
        or is_nameless(element)
        or is_slider(element)
        or amounts(element.label)
    ):
        return True
    if element.class_name.endswith(_ROW_CLASSES):
        return False
    reading = read(element.label.split(" | ", 1)[0])
    if is_unread(page) or (M.REFUSE in reading.head and commits_as_refusal(element, page)):
        return True
    # A verb that is not known, below an amount, with hardly another way on.
    choices = [e for e in page.pressables if not page.is_toolbar(e)]
    beside = [e for e in page.beside(element) if not page.is_toolbar(e)]
    unknown = not reading.found - {M.MEDIA, M.PROCEED} - OUTCOMES
    return unknown and not beside and len(choices) <= _FEW and page.is_last_button(element)


def _is_past(element: Element, page: Page) -> bool:
    """Return whether a line says that it has paid: "Paid with Visa", or its label does."""
    beside = (e for e in page.texts if abs(e.bounds.center_y - element.bounds.center_y) < 0.012)
    return any(M.SUCCESS in read(e.label).found for e in (element, *beside))


@lru_cache(maxsize=8192)
def _has_rate(label: str) -> bool:
    return any(is_rate(part) for part in label.replace(",", " | ").split(" | "))


def _lists_prices(page: Page) -> bool:
    """Return whether a page is a list of things with prices, as a shop's or a statement is."""
    priced = [e for e in page.pressables if amounts(e.label) and not e.checkable]
    return len(priced) >= _MANY_PRICES


def _only_tells(page: Page) -> bool:
    choices = [e for e in page.pressables if not page.is_toolbar(e)]
    return len(choices) < 2
