"""Which personal details the operator's own words ask for: those are not hidden in that session.

Telephone numbers and e-mail addresses on a screen are hidden from models, but a goal that speaks of
them cannot be met without them. Not the search for them (`finding`), and nothing of secrets, which
no goal brings back. Invariant: only what an operator wrote counts, never a screen's or a model's
words.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum, auto

from agent.language.fold import unaccented


class Detail(Enum):
    """A kind of personal detail that a goal may ask for."""

    PHONE = auto()
    EMAIL = auto()


_START = r"(?<![^\W_])"


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(_START + unaccented(words))


_WORDS = {
    Detail.PHONE: _pattern(
        r"(?:phone|telephone|mobile|cell|contact|number|call|dial|sms|whatsapp"
        r"|telefon|telefoon|handy|nummer|kontakt|telefono|telefone|numero|contat|contac|mobil|movil"
        r"|celular|cellulare|portable|appel|llama|ligar|chiama|bel|bellen|numer|komorka|zadzwon"
        r"|puhelin|numerot|ring|arama|numara|rehber|điện thoại|gọi|telpon|nomor|kontak"
        r"|телефон|номер|контакт|позвон|подзвон|τηλεφων|αριθμ|επαφ|טלפון|מספר|איש קשר)"
        r"|电话|号码|联系人|手机|電話|番号|連絡先|携帯|전화|번호|연락처"
        r"|هاتف|رقم|جهة اتصال|جوال|फोन|नंबर|संपर्क|โทรศัพท์|เบอร์|ผู้ติดต่อ"
    ),
    Detail.EMAIL: _pattern(
        r"(?:e-?mail|mail|address|contact|adress|kontakt|correo|direccion|courriel"
        r"|indirizzo|posta|endereco|contat|contac|poczt|sahkoposti|eposta|alamat|surel|địa chỉ"
        r"|почт|письм|адрес|контакт|пошт|μειλ|διευθυνσ|דואר|כתובת)"
        r"|邮件|邮箱|地址|メール|アドレス|連絡先|메일|주소|بريد|عنوان|ईमेल|मेल|पता|อีเมล|ที่อยู่"
    ),
}
"""Words of telephone numbers and of mail addresses, without accents, in the languages that the
lexicon of effects has."""


def requested_in(words: str) -> frozenset[Detail]:
    """Return which details a goal, a hint or an answer of the operator speaks of."""
    plain = unaccented(words)
    return frozenset(detail for detail, said in _WORDS.items() if said.search(plain))


def all_requested_in(texts: Iterable[str]) -> frozenset[Detail]:
    """Return which details any of several texts speaks of."""
    return frozenset(detail for text in texts for detail in requested_in(text))


def _nothing() -> Collection[Detail]:
    return ()


_current: ContextVar[Callable[[], Collection[Detail]]] = ContextVar("asked_for", default=_nothing)


@contextmanager
def showing(details: Callable[[], Collection[Detail]]) -> Iterator[None]:
    """Show details for the length of a block.

    Args:
        details: returns what was asked for by now; read at each search.
    """
    token = _current.set(details)
    try:
        yield
    finally:
        _current.reset(token)


def shown_now() -> Collection[Detail]:
    """Return which details are not hidden in the session that is at work."""
    return _current.get()()
