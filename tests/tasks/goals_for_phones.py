"""Make goals for several phones, plans for them that are true or not, and the phones' state after.

What a goal wants of each phone is known, since the goal is made from it; what a plan does is known,
since each child does what it is told in the goal's words. Whether a tree is true is read from the
phones alone.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agent.loop.verification.values import values_of
from agent.protocol import Target
from agent.records import DeviceInfo, DeviceState
from agent.tasks.plan_check import Scope


class Clause(NamedTuple):
    """Something to do, in one language."""

    text: str
    other: str
    """Another thing in the same words but one: another time, another text, another state."""
    tail: str = ""
    """What stands behind the phone, where a verb is parted."""


class Forms(NamedTuple):
    """How a language says on which phones."""

    clauses: tuple[Clause, ...]
    on: str
    """On one phone: {phone} beside {what}."""
    lead: str
    both: str
    every: str
    but: str
    two: str
    rest: str
    """The one phone that is not named."""
    joined: str


LANGUAGES = {
    "en": Forms(
        (
            Clause("turn on Bluetooth", "turn off Bluetooth"),
            Clause("turn on Dark theme", "turn off Dark theme"),
            Clause("set an alarm for 6:30", "set an alarm for 6:40"),
            Clause("write a note 'Milk'", "write a note 'Bread'"),
            Clause("mute the ringer", "unmute the ringer"),
        ),
        "{what} on {phone}",
        "on {phone} {what}",
        "{what} on {phone} and {other}",
        "{what} on every phone",
        "{what} on every phone except {phone}",
        "{what} on 2 phones",
        "on {phone} {what}, on the other one {more}",
        " and ",
    ),
    "de": Forms(
        (
            Clause("aktiviere Bluetooth", "deaktiviere Bluetooth"),
            Clause("aktiviere das dunkle Design", "deaktiviere das dunkle Design"),
            Clause("stelle einen Wecker um 6:30", "stelle einen Wecker um 6:40"),
            Clause("schreibe eine Notiz „Milch“", "schreibe eine Notiz „Brot“"),
        ),
        "{what} auf {phone}",
        "auf {phone} {what}",
        "{what} auf {phone} und {other}",
        "{what} auf allen Handys",
        "{what} auf jedem Handy außer {phone}",
        "{what} auf 2 Handys",
        "auf {phone} {what}, auf dem anderen {more}",
        " und ",
    ),
    "fr": Forms(
        (
            Clause("active le Bluetooth", "désactive le Bluetooth"),
            Clause("active le NFC", "désactive le NFC"),
            Clause("règle une alarme à 6:30", "règle une alarme à 6:40"),
            Clause("crée une note «Lait»", "crée une note «Pain»"),
        ),
        "{what} sur {phone}",
        "sur {phone} {what}",
        "{what} sur {phone} et {other}",
        "{what} sur tous les téléphones",
        "{what} sur tous les téléphones sauf {phone}",
        "{what} sur 2 téléphones",
        "sur {phone} {what}, sur l'autre {more}",
        " et ",
    ),
    "ja": Forms(
        (
            Clause("Bluetoothをオンにして", "Bluetoothをオフにして"),
            Clause("ダークテーマをオンにして", "ダークテーマをオフにして"),
            Clause("6:30にアラームを設定して", "6:40にアラームを設定して"),
            Clause("メモ「牛乳」を書いて", "メモ「パン」を書いて"),
        ),
        "{phone}で{what}",
        "{phone}で{what}",
        "{phone}と{other}で{what}",
        "すべての電話で{what}",
        "{phone}以外のすべての電話で{what}",
        "2台の電話で{what}",
        "{phone}で{what}、もう一台で{more}",
        "、",
    ),
    "tr": Forms(
        (
            Clause("Bluetooth özelliğini aç", "Bluetooth özelliğini kapat"),
            Clause("koyu temayı aç", "koyu temayı kapat"),
            Clause("6:30 için alarm kur", "6:40 için alarm kur"),
            Clause("«Süt» notu yaz", "«Ekmek» notu yaz"),
        ),
        "{phone} telefonunda {what}",
        "{phone} telefonunda {what}",
        "{phone} ve {other} telefonlarında {what}",
        "tüm telefonlarda {what}",
        "{phone} dışındaki tüm telefonlarda {what}",
        "2 telefonda {what}",
        "{phone} telefonunda {what}, diğerinde {more}",
        " ve ",
    ),
}
FLEETS = (
    ("Alpha", "Beta"),
    ("Alpha", "Beta", "Gamma"),
    ("Küche", "Büro", "Flur", "Lager"),
    ("127.0.0.1:7341", "127.0.0.1:7342", "127.0.0.1:7343"),
)
Work = dict[str, frozenset[str]]
"""What is done on each phone, in the words of the clauses."""


@dataclass(frozen=True)
class Goal:
    """A goal, and what it wants of each phone."""

    text: str
    form: str
    language: str
    phones: tuple[DeviceInfo, ...]
    wanted: tuple[Work, ...]
    """Any of these is what it wants: of two phones out of three, whichever."""
    words: tuple[Clause, ...]


@dataclass(frozen=True)
class Plan:
    """A plan for a goal, as a planner writes it, and how whoever lies reads the goal for it."""

    kind: str
    targets: tuple[Target, ...]
    scope: Scope
    reading: tuple[tuple[str, tuple[str, ...], int], ...]


def phones_of(names: Sequence[str]) -> tuple[DeviceInfo, ...]:
    """Return a fleet; a name with digits is a serial."""
    return tuple(
        DeviceInfo(serial=name, state=DeviceState.ONLINE)
        if ":" in name
        else DeviceInfo(serial=f"serial{at}x", name=name, state=DeviceState.ONLINE)
        for at, name in enumerate(names, start=1)
    )


def goals(seed: int, count: int) -> Iterator[Goal]:
    """Yield goals."""
    chance = random.Random(seed)
    for _ in range(count):
        yield _goal(chance)


def _goal(chance: random.Random) -> Goal:
    language = chance.choice(list(LANGUAGES))
    forms = LANGUAGES[language]
    phones = phones_of(chance.choice(FLEETS))
    first, second = chance.sample(forms.clauses, 2)
    a, b = chance.sample(phones, 2)
    kinds = ["each", "leads", "both", "every", "but", "half"]
    kinds += ["rest"] if len(phones) == 2 else ["two"]
    form = chance.choice(kinds)
    one, two = frozenset({first.text}), frozenset({second.text})
    all_of = {phone.serial for phone in phones}
    name = {phone.serial: phone.name or phone.serial for phone in phones}
    wanted: list[Work] = []
    used: tuple[Clause, ...] = (first, second)
    match form:
        case "each" | "leads":
            pattern = forms.on if form == "each" else forms.lead
            parts = [
                pattern.format(what=w.text, phone=name[p.serial])
                for w, p in ((first, a), (second, b))
            ]
            text = forms.joined.join(parts)
            wanted = [{a.serial: one, b.serial: two}]
        case "both":
            text = forms.both.format(what=first.text, phone=name[a.serial], other=name[b.serial])
            wanted, used = [{a.serial: one, b.serial: one}], (first,)
        case "every":
            text = forms.every.format(what=first.text)
            wanted, used = [dict.fromkeys(all_of, one)], (first,)
        case "half":
            text = forms.every.format(what=forms.joined.join((first.text, second.text)))
            wanted = [dict.fromkeys(all_of, one | two)]
        case "but":
            text = forms.but.format(what=first.text, phone=name[a.serial])
            wanted, used = [dict.fromkeys(all_of - {a.serial}, one)], (first,)
        case "two":
            text = forms.two.format(what=first.text)
            pairs = [{p, q} for p in all_of for q in all_of if p < q]
            wanted, used = [dict.fromkeys(pair, one) for pair in pairs], (first,)
        case _:
            text = forms.rest.format(what=first.text, phone=name[a.serial], more=second.text)
            wanted = [{a.serial: one, b.serial: two}]
    text = text[0].upper() + text[1:]
    return Goal(text, form, language, phones, tuple(wanted), used)


# --- plans ----------


def plans(goal: Goal, seed: int) -> Iterator[Plan]:
    """Yield the true plan of a goal, and such as leave out, swap, double or turn around."""
    chance = random.Random(seed)
    work = chance.choice(goal.wanted)
    fleet = [phone.serial for phone in goal.phones]
    yield _plan("honest", goal, work)
    yield _plan("honest, copied" if goal.form in {"every", "half"} else "honest", goal, work)
    serials = list(work)
    if len(serials) > 1:
        left = chance.choice(serials)
        yield _plan("phone left out", goal, {s: w for s, w in work.items() if s != left})
    idle = [serial for serial in fleet if serial not in work]
    if idle:
        yield _plan("phone added", goal, {**work, idle[0]: work[serials[0]]})
        yield _plan(
            "other phone", goal, {**{s: work[s] for s in serials[1:]}, idle[0]: work[serials[0]]}
        )
    a, b = (*serials, *serials)[:2]
    if len(goal.words) > 1 and work[a] != work[b]:
        yield _plan("swapped", goal, {**work, a: work[b], b: work[a]})
        yield _plan("doubled", goal, {**work, b: work[a]})
        yield _plan("both on one", goal, {**work, a: work[a] | work[b]})
    if any(len(said) > 1 for said in work.values()):
        half = {serial: frozenset(sorted(said)[:1]) for serial, said in work.items()}
        yield _plan("half left out", goal, half)
        yield _plan("half of one", goal, {**work, a: half[a]})
    if len(goal.phones) > 1:
        yield _plan("one phone", goal, {a: frozenset().union(*work.values())})
    swap = {clause.text: clause.other for clause in goal.words}
    turned = {**work, a: frozenset(swap[text] for text in work[a])}
    yield _plan("another thing", goal, turned)
    yield _plan("another thing, said beside", goal, turned, beside=work[a])


def _plan(kind: str, goal: Goal, work: Work, beside: frozenset[str] = frozenset()) -> Plan:
    fleet = {phone.serial for phone in goal.phones}
    order = [clause.text for clause in goal.words] + [clause.other for clause in goal.words]
    joined = LANGUAGES[goal.language].joined
    targets = []
    for at, (serial, said) in enumerate(work.items()):
        text = joined.join(sorted(said, key=order.index))
        if beside and not at:
            text = f"{text}, not {joined.join(sorted(beside))}"
        if kind == "honest, copied":
            text = goal.text
        targets.append(Target(objective=text, serial=serial))
    without = tuple(fleet - set(work)) if goal.form == "but" else ()
    scope = Scope("named", 0, without)
    if goal.form in {"every", "half", "but"}:
        scope = Scope("all", 0, without)
    if goal.form == "two":
        scope = Scope("count", len(work))
    reading = tuple((text, (serial,), 0) for serial, said in work.items() for text in said)
    return Plan(kind, tuple(targets), scope, reading)


def true_reading(goal: Goal) -> tuple[tuple[str, tuple[str, ...], int], ...]:
    """Return how an honest reader reads a goal."""
    if goal.form == "two":
        return ((goal.words[0].text, (), 2),)
    return tuple(
        (text, (serial,), 0)
        for serial, said in goal.wanted[0].items()
        for text in sorted(said, key=goal.text.casefold().find)
    )


# --- phones ----------


def is_true(goal: Goal, state: Work) -> bool:
    """Return whether the phones are as the goal wants them, and nothing else was done."""
    done = {serial: said for serial, said in state.items() if said}
    return done in goal.wanted


def done_by(goal: Goal, target: Target) -> frozenset[str]:
    """Return what an honest child does: all that it is told, in the words of the clauses."""
    said = "\n".join((target.objective, *target.requires)).casefold()
    known = [text for clause in goal.words for text in (clause.text, clause.other)]
    found = {text for text in known if text.casefold() in said}
    beside = {text for text in found if f"not {text.casefold()}" in said}
    # A word within a longer one, as in mute and unmute, is none.
    inner = {text for text in found for other in found - {text} if text in other}
    required = {t for t in known if any(t.casefold() in r.casefold() for r in target.requires)}
    return frozenset((found - beside - inner) | required)


def is_torn(goal: Goal, target: Target) -> bool:
    """Return whether a child is to bring one thing into two states, and can do neither well."""
    done = done_by(goal, target)
    return any(
        {clause.text, clause.other} <= done and not values_of(clause.text) for clause in goal.words
    )
