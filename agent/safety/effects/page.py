"""Read the structure of a screen: its dialog, title, fields, rows, keypad, amounts and recipient.

Structure before words: whatever language a screen speaks, a keypad has ten digits, a dialog has a
way out, and a form has a field that is filled. Pure, and computed at most once for a screen.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import combinations

from agent.records import Element, Observation
from agent.safety.effects.amounts import amounts, has_digit, is_number, is_rate, is_whole, value_of
from agent.safety.effects.lexicon import Meaning, Reading, read
from agent.safety.effects.structure.fields import is_amount, is_composer, is_recipient, is_search
from agent.safety.words import id_words, words

_DIALOG_IDS = frozenset({"alerttitle", "parentpanel", "buttonpanel", "button1", "button2"})
_ID_MONEY = frozenset(
    {
        *("pay", "payment", "payments", "checkout", "purchase", "transfer", "remit", "billing"),
        *("subscribe", "subscription", "donate", "donation", "topup", "recharge", "buy", "bid"),
        *("payee", "upi", "iban", "beneficiary", "tip", "deposit", "withdraw", "payout", "wire"),
        *("bet", "stake", "invest", "trade", "amount", "total", "price"),
    }
)
_ID_TIP = frozenset({"tip", "gratuity"})
_ID_PIN = frozenset({"pin", "passcode", "mpin", "bouncer", "otp", "passwordentry", "biometric"})
_OPERATORS = frozenset({"+", "−", "-", "×", "÷", "=", "*", "/"})
_INSTRUMENTS = ("calculator", "deskclock", "clock", "stopwatch", "timer", "metronome")
_SLIDERS = ("SeekBar", "Slider", "SwipeButton", "SlideToAct", "RatingBar")
_SLIDE_IDS = frozenset({"slide", "swipe", "slider", "swiper"})
ASKING = ("?", "？", "؟")
_MAX_DIALOG = 16
_MAX_CHOICES = 4
_CORRESPONDENCE = ("messag", "mail", "chat", "sms", "conversation", "inbox", "notification")
_ENTRIES = frozenset(
    {
        *("note", "notes", "memo", "memos", "keep", "todo", "todos", "todoist", "task", "tasks"),
        *("calendar", "journal", "diary", "contacts"),
    }
)
"""In the name of an app that lists what its user wrote down."""
_MAKES = frozenset({"add", "new", "create", "compose", "fab"})
"""In the label or the id of a control that makes a new entry."""
_SETS = frozenset({"settings", "setting", "preferences", "preference", "account", "accounts"})
"""In the name of a page whose rows are commands, in whatever app."""
_ROWS = 3
_FEW_AMOUNTS = 3
_CENT = 0.01
HEAD, _MIDDLE = 0.22, 0.5


class Page:
    """One screen, read.

    Args:
        screen: what was observed.
    """

    def __init__(self, screen: Observation) -> None:
        self.screen = screen
        self.elements = screen.elements
        self.package = screen.foreground.package
        self.activity = id_words(screen.foreground.activity.rsplit(".", 1)[-1])

    @cached_property
    def pressables(self) -> tuple[Element, ...]:
        """What can be pressed and is not a field."""
        return tuple(
            e
            for e in self.elements
            if (e.clickable or e.checkable or e.long_clickable)
            and not (e.editable or e.scrollable)
            and e.enabled
        )

    @cached_property
    def fields(self) -> tuple[Element, ...]:
        return tuple(e for e in self.elements if e.editable)

    @cached_property
    def texts(self) -> tuple[Element, ...]:
        """What is read only, from the top down."""
        found = (
            e
            for e in self.elements
            if not (e.clickable or e.editable or e.scrollable or e.checkable)
            and e.label != "unlabeled"
        )
        return tuple(sorted(found, key=lambda e: (e.bounds.top, e.bounds.left)))

    @cached_property
    def _by_height(self) -> tuple[tuple[float, ...], tuple[Element, ...]]:
        found = sorted(((e.bounds.center_y, at) for at, e in enumerate(self.pressables)))
        return tuple(y for y, _ in found), tuple(self.pressables[at] for _, at in found)

    def beside(self, element: Element, within: float = 0.02) -> list[Element]:
        """Return what else can be pressed on an element's line, `within` shares of the height."""
        heights, found = self._by_height
        middle = element.bounds.center_y
        first, last = bisect_left(heights, middle - within), bisect_right(heights, middle + within)
        return [e for e in found[first:last] if e is not element]

    def texts_of_one(self, element: Element) -> list[str]:
        """Return the texts that stand with a control which every entry of a list has.

        Empty where the page has no second control of its name, or nothing stands with it.
        """
        if self.is_dialog:
            return []
        name = element.label.split(" | ", 1)[0]
        heights = [
            e.bounds.center_y
            for e in self.pressables
            if e is not element
            and e.resource_id == element.resource_id
            and e.label.split(" | ", 1)[0] == name
        ]
        middle = element.bounds.center_y
        reach = min((abs(y - middle) for y in heights), default=0.0) / 2
        return [e.label for e in self.texts if abs(e.bounds.center_y - middle) < reach]

    # --- dialogs ----------

    @cached_property
    def is_dialog(self) -> bool:
        """Whether it asks: a dialog by its ids, or a few buttons of which one leads away."""
        if len(self.elements) <= _MAX_DIALOG * 2 and any(
            own_id(e) in _DIALOG_IDS for e in self.elements
        ):
            return True
        choices = [e for e in self.pressables if not self.is_toolbar(e)]
        if not 1 <= len(choices) <= _MAX_CHOICES or len(self.elements) > _MAX_DIALOG:
            return False
        if any(looks_refusing(e) for e in choices):
            return True
        # Two or three buttons side by side below a few texts, whatever they say.
        lines = [e.bounds.center_y for e in choices]
        buttons = len(choices) == 2 or all(e.class_name.endswith("Button") for e in choices)
        return (
            len(choices) in {2, 3}
            and buttons
            and max(lines) - min(lines) < 0.02
            and bool(self.texts)
            and min(lines) > self.texts[0].bounds.center_y
            and not self.fields
        )

    @cached_property
    def title(self) -> str:
        """The title of the dialog or page; empty when it has none."""
        for e in self.texts:
            if own_id(e) in {"alerttitle", "dialogtitle", "sheettitle"}:
                return e.label
        if self.is_dialog:
            return self.texts[0].label if self.texts else ""
        said = [e for e in self.texts if any(map(str.isalpha, e.label))]
        top = [e for e in said if e.bounds.center_y < HEAD] or said
        return top[0].label if top and top[0].bounds.center_y < _MIDDLE else ""

    @cached_property
    def message(self) -> str:
        """What else a dialog says."""
        said = [e.label for e in self.texts if e.label != self.title]
        return " ".join(said)[:600] if self.is_dialog else ""

    @cached_property
    def question(self) -> Reading:
        """What the title of a dialog, and the questions in it, are about."""
        if not self.is_dialog:
            return read("")
        asked = [self.title]
        asked += [
            e.label
            for e in self.texts
            if e.label.rstrip()[-1:] in "?？؟;՞" or e.label == self.title
        ]
        return merged([read(text) for text in dict.fromkeys(asked)])

    @cached_property
    def statement(self) -> Reading:
        """What all of the texts of a dialog are about."""
        return merged([read(e.label) for e in self.texts]) if self.is_dialog else read("")

    @cached_property
    def refusals(self) -> tuple[Element, ...]:
        return tuple(e for e in self.pressables if looks_refusing(e))

    # --- places ----------

    def is_toolbar(self, element: Element) -> bool:
        """Return whether an element stands in the bar at the top."""
        return element.bounds.bottom < 0.14

    @cached_property
    def _columns(self) -> Counter[tuple[int, int, str]]:
        return Counter(map(column_of, self.pressables))

    def is_row(self, element: Element) -> bool:
        """Return whether an element is one of a list of its kind, and no button."""
        if element.class_name.endswith("Button") and not element.checkable:
            return False
        wide = element.bounds.right - element.bounds.left > 0.5
        return wide and (self._columns[column_of(element)] >= _ROWS or " | " in element.label)

    def is_listed(self, element: Element) -> bool:
        """Return whether an element is a row, also where the list has but two."""
        if element.class_name.endswith("Button") and not element.checkable:
            return False
        wide = element.bounds.right - element.bounds.left > 0.5
        return self.is_row(element) or (wide and self._columns[column_of(element)] > 1)

    def is_tile(self, element: Element) -> bool:
        """Return whether an element is one of several side by side, of a home page or a tab bar."""
        if not _is_narrow(element):
            return False
        return 1 + sum(map(_is_narrow, self.beside(element, 0.012))) >= _ROWS

    def is_last_button(self, element: Element) -> bool:
        wide = element.bounds.right - element.bounds.left > 0.4
        below = (
            e
            for e in self.pressables
            if e is not element and e.bounds.top >= element.bounds.bottom and not self.is_tile(e)
        )
        return wide and not self.is_row(element) and not any(below)

    @cached_property
    def rows(self) -> int:
        return sum(map(self.is_row, self.pressables))

    @cached_property
    def lists_messages(self) -> bool:
        """Whether it lists what people wrote: chats, mails, notifications."""
        where = f"{self.package} {' '.join(self.activity)}".lower()
        return self.rows >= 2 and any(word in where for word in _CORRESPONDENCE)

    @cached_property
    def lists_entries(self) -> bool:
        """Whether it lists what its user wrote down, beside nothing that is or may be paid."""
        if self.rows < 2 or self.is_dialog or not _ENTRIES.intersection(self.package.split(".")):
            return False
        return not (self.amounts or self.has_payment_method or self.speaks_of_money)

    @cached_property
    def keeps_entries(self) -> bool:
        """Whether its rows are entries for sure: it lists them, and offers to make another."""
        named = {word for text in (*self.activity, self.title) for word in id_words(text)}
        return (
            self.lists_entries
            and not named & _SETS
            and any(
                e.label.strip() == "+" or _MAKES & {*words(e.label), *id_words(e.resource_id)}
                for e in self.pressables
                if not self.is_row(e)
            )
        )

    @cached_property
    def is_home(self) -> bool:
        """Whether it leads to many places and holds nothing that is about to be sent."""
        return len(self.pressables) >= 5 and not self.is_dialog and not self.filled

    @cached_property
    def is_instrument(self) -> bool:
        """Whether it is a calculator or a clock, whose reset destroys nothing that is kept."""
        if self.is_calculator:
            return True
        return any(word in self.package for word in _INSTRUMENTS)

    # --- keypads ----------

    @cached_property
    def digits(self) -> tuple[Element, ...]:
        keys = [e for e in self.pressables if is_digit(e)]
        return tuple(keys) if len({digit_of(e) for e in keys}) >= 9 else ()

    @cached_property
    def is_calculator(self) -> bool:
        if not self.digits:
            return False
        said = {e.label.strip() for e in self.pressables}
        ids = {own_id(e) for e in self.pressables}
        return len(said & _OPERATORS) >= 2 or any(i.startswith("op") for i in ids)

    @cached_property
    def is_pin_page(self) -> bool:
        """Whether a secret is asked for on a keypad, in a field, or by a finger."""
        ids = {word for e in self.elements for word in id_words(e.resource_id)}
        named = bool(ids & _ID_PIN) or bool(set(self.activity) & _ID_PIN)
        said = any(Meaning.PIN in read(e.label).found for e in self.texts)
        return (named or said) and (
            bool(self.digits) or bool(self.fields) or len(self.elements) < 15
        )

    # --- fields ----------

    @cached_property
    def composer(self) -> Element | None:
        """The field of a message that is being written; a filled one first."""
        found = [f for f in self.fields if is_composer(f)]
        return next((f for f in found if f.value), found[0] if found else None)

    @cached_property
    def filled(self) -> tuple[Element, ...]:
        """Fields that hold something which is not looked for."""
        return tuple(f for f in self.fields if f.value and not is_search(f))

    # --- money ----------

    @cached_property
    def amounts(self) -> tuple[tuple[Element, str], ...]:
        return tuple((e, a) for e in self.elements for a in amounts(e.label))

    @cached_property
    def speaks_of_money(self) -> bool:
        """Whether its title, its name, its fields or its few texts are about spending."""
        if self.has_payment_method and self.amounts:
            return True
        if set(self.activity) & _ID_MONEY or Meaning.MONEY in read(self.title).found:
            return True
        if any(set(id_words(f.resource_id)) & _ID_MONEY for f in self.fields):
            return True
        if any(
            set(id_words(e.resource_id)) & _ID_MONEY for e in self.pressables if not self.is_row(e)
        ):
            return True
        if self.composer is not None and self.amount_field is None:
            # What people write each other of money pays nothing.
            return False
        named = (e for e in self.pressables if e.class_name.endswith("Button"))
        said = (*self.texts, *self.fields, *named)
        return any(Meaning.MONEY in read(e.label).found or is_rate(e.label) for e in said)

    @cached_property
    def amount_field(self) -> Element | None:
        found = [f for f in self.fields if is_amount(f)]
        # A tip is a part of what is paid, where the page says more.
        whole = [f for f in found if not _ID_TIP.intersection(id_words(f.resource_id))]
        return next(iter(whole if whole or self.amounts else found), None)

    @cached_property
    def stake(self) -> str:
        """The amount that this page is about; empty when it shows none.

        A field that is filled, the title, what stands beside a word of money, or what is left. What
        a field holds is stated whole, even if it is no amount.
        """
        field = self.amount_field
        if field is not None and has_digit(field.value):
            signs = currencies(self.elements) if is_number(field.value) else ()
            return f"{signs[0] if len(signs) == 1 else ''}{field.value.strip()}"
        if found := amounts(self.title):
            return found[0]
        beside = [
            (e, a)
            for e, a in self.amounts
            if Meaning.MONEY in read(e.label).found
            or any(
                abs(t.bounds.center_y - e.bounds.center_y) < 0.012
                and Meaning.MONEY in read(t.label).found
                for t in self.texts
            )
        ]
        if beside:
            return _total(a for _, a in sorted(beside, key=lambda pair: pair[0].bounds.top))
        chosen = [a for e, a in self.amounts if self.is_row(e) and (e.selected or e.checked)]
        if len(chosen) == 1:
            return chosen[0]
        alone = dict.fromkeys(a for e, a in self.amounts if not self.is_row(e))
        few = len(alone) <= _FEW_AMOUNTS and len(self.pressables) <= 8
        # Nothing says which of several is meant.
        return ", ".join(alone) if len(alone) == 1 or self.is_dialog or few else ""

    @cached_property
    def asks_recipient(self) -> bool:
        """Whether it is a form in which a row that is pressed may be who gets the money."""
        if self.amount_field is not None:
            return True
        return any(Meaning.RECIPIENT in read(e.label).whole for e in (*self.texts, *self.fields))

    @cached_property
    def is_basket(self) -> bool:
        """Whether it is a cart, where nothing is paid yet."""
        named = Meaning.BASKET in read(self.title).found or bool(
            {"cart", "basket"} & set(self.activity)
        )
        paying = any(
            {"payment", "card"} & set(id_words(e.resource_id)) and not e.clickable
            for e in self.elements
        )
        return named and not paying

    @cached_property
    def has_payment_method(self) -> bool:
        return any("••" in e.label or "**" in e.label for e in self.elements)

    @cached_property
    def chooses_payment_method(self) -> bool:
        """Whether what pays may still be chosen beside an amount: then nothing has been paid yet.

        A receipt names it as a mere text.
        """
        return bool(self.amounts) and any(
            "••" in e.label or "**" in e.label for e in self.pressables
        )

    @cached_property
    def says_done(self) -> bool:
        """Whether it only says that something has been done."""
        if self.fields or len(self.pressables) > 5 or self.refusals or self.is_pin_page:
            return False
        if self.chooses_payment_method:
            return False
        return any(Meaning.SUCCESS in read(e.label).found for e in self.texts[:3])

    @cached_property
    def recipient(self) -> str:
        """Who gets it, as the page says: a field, a line that begins with "to", a chosen row."""
        if said := [f.value for f in self.fields if is_recipient(f) and f.value]:
            # A mail has more than one such field, and everybody in them gets it.
            return ", ".join(dict.fromkeys(said))
        for e in self.texts:
            if name := after_recipient(e.label):
                return name
            if Meaning.RECIPIENT in read(e.label).whole:
                beside = [
                    t
                    for t in self.elements
                    if t is not e
                    and not (t.editable or t.clickable or "••" in t.label)
                    and (
                        abs(t.bounds.center_y - e.bounds.center_y) < 0.015
                        or 0 < t.bounds.top - e.bounds.bottom < 0.03
                    )
                    and t.bounds.left >= e.bounds.left - 0.01
                    and any(map(str.isalpha, t.label))
                    and not self.is_row(t)
                ]
                if beside:
                    return beside[0].label
        for e in self.pressables:
            name, _, who = e.label.partition(" | ")
            if who and Meaning.RECIPIENT in read(name).whole and any(map(str.isalpha, who)):
                return who
        if not self.asks_recipient:
            return ""
        chosen = [
            e
            for e in self.pressables
            if (e.selected or e.checked) and self.is_row(e) and "••" not in e.label
        ]
        return chosen[0].label.split(" | ")[0] if len(chosen) == 1 else ""


def after_recipient(label: str) -> str:
    """Return whom a line names: "To: Ana", "$5.00 to Ana", "An Ben"; empty when it names nobody."""
    if len(label) > 120 or "••" in label:
        # A card is what pays, not who is paid.
        return ""
    parts = label.replace(":", " ").split()
    for at, part in enumerate(parts[:-1]):
        if at > 4:
            break
        if Meaning.RECIPIENT in read(part).whole and parts[at + 1][:1].isupper():
            before = " ".join(parts[:at])
            if not before or amounts(before):
                return " ".join(parts[at + 1 :])
    return ""


def _is_narrow(element: Element) -> bool:
    return element.bounds.right - element.bounds.left < 0.45 and not is_digit(element)


def own_id(element: Element) -> str:
    """Return the last part of a resource id, folded."""
    return element.resource_id.rsplit("/", 1)[-1].replace("_", "").lower()


def column_of(element: Element) -> tuple[int, int, str]:
    """Return what elements of one list have in common."""
    return (round(element.bounds.left * 50), round(element.bounds.right * 50), element.class_name)


def digit_of(element: Element) -> str:
    """Return the digit of a key; empty when it is none. Keys may carry letters: "2 ABC"."""
    label = element.label.strip()
    if label[:1].isdigit() and len(label) <= 8:
        rest = label[1:].strip(" |,")
        if not rest or (rest.isalpha() and len(rest) <= 4):
            return str(int(label[0])) if label[0].isdecimal() else ""
    return ""


def is_digit(element: Element) -> bool:
    return digit_of(element) != ""


def looks_refusing(element: Element) -> bool:
    """Return whether a button says that it leads away without doing anything."""
    found = read(element.label.split(" | ", 1)[0])
    return Meaning.REFUSE in found.head and not found.found & HARMFUL


HARMFUL = frozenset(
    {
        *(Meaning.CANCEL, Meaning.WIPE, Meaning.MONEY, Meaning.SIGN_OUT, Meaning.ARCHIVE),
        *(Meaning.LEAVE, Meaning.PUBLISH, Meaning.CARRY, Meaning.OVERWRITE, Meaning.SIGN_UP),
    }
)


def is_slider(element: Element) -> bool:
    """Return whether a stroke over an element does something."""
    if any(name in element.class_name for name in _SLIDERS):
        return True
    ids = set(id_words(element.resource_id))
    # A list that is pulled to be read anew is swiped too.
    named = ids & _SLIDE_IDS and "refresh" not in ids and not element.scrollable
    return Meaning.SLIDE in read(element.label).found or bool(named)


def merged(readings: Sequence[Reading]) -> Reading:
    """Put several readings together."""
    return Reading(
        frozenset().union(*(r.found for r in readings)),
        frozenset().union(*(r.head for r in readings)),
        frozenset().union(*(r.whole for r in readings)),
    )


def currencies(elements: Sequence[Element]) -> tuple[str, ...]:
    """List the signs of money that a screen shows, each once."""
    signs = (
        "".join(c for c in a if not (c.isdigit() or c in ".,' -\u00a0"))
        for e in elements
        for a in amounts(e.label)
        if is_whole(a)
    )
    return tuple(dict.fromkeys(s for s in signs if s))


@lru_cache(maxsize=4)
def _cached(mark: int, holder: "_Holder") -> Page:
    return Page(holder.screen)


class _Holder:
    """Keeps a screen by its identity: hashing its elements would cost more than reading them."""

    __slots__ = ("screen",)

    def __init__(self, screen: Observation) -> None:
        self.screen = screen

    def __hash__(self) -> int:
        return id(self.screen)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Holder) and other.screen is self.screen


def page_of(screen: Observation) -> Page:
    """Read a screen, once."""
    return _cached(id(screen), _Holder(screen))


def _total(listed: Iterable[str]) -> str:
    """Return the amount that a list of them comes to, which stands last; all where none does.

    A fee or a balance below the total is none.
    """
    said = tuple(dict.fromkeys(listed))
    *before, last = (value_of(one) for one in said)
    largest = max(before, default=last)
    rest = [value for value in before if value != largest]
    reductions = (sum(some) for n in range(len(rest) + 1) for some in combinations(rest[:6], n))
    is_rest = any(less and abs(largest - less - last) < _CENT / 2 for less in reductions)
    if last >= largest or is_rest:
        return said[-1]
    return ", ".join(said)
