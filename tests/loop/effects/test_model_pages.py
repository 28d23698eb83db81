"""Random acts on a model app: the ledger is what the model knows to have changed, and no more.

The app has a list that scrolls, with stars and bins in its rows, a form, settings with switches and
a dialog of choices, and a thread. It is drawn as Android draws such pages; its words are of no
language.
"""

from dataclasses import dataclass, field

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from agent.records import Bounds, EffectOf, Element, FieldFate, UiNode
from tests.loop.effects.played import APP, Played, seen

TOP, HEIGHT, SHOWN = 0.16, 0.08, 9
WORD = st.text(alphabet="abcdefgßłжщ你好אב", min_size=3, max_size=9).filter(
    lambda word: word.strip() == word and len(set(word)) > 1
)


def node(
    text: str,
    box: tuple[float, float, float, float],
    shape: str = "android.widget.TextView",
    **more: object,
) -> UiNode:
    left, top, right, bottom = box
    bounds = Bounds(left=left, top=top, right=right, bottom=bottom)
    return UiNode(text=text, bounds=bounds, class_name=shape, package=APP, **more)  # type: ignore[arg-type]


def icon(said: str, x: float, y: float, name: str, parent: int = -1) -> UiNode:
    return node(
        "",
        (x, y, x + 0.1, y + 0.05),
        "android.widget.ImageButton",
        description=said,
        clickable=True,
        resource_id=f"{APP}:id/{name}",
        parent=parent,
    )


@dataclass
class App:
    """The model: what there is, which page is in front, how far the list is scrolled."""

    items: list[str]
    switches: dict[str, bool]
    choices: list[str]
    chosen: str
    messages: list[str] = field(default_factory=list)
    starred: set[str] = field(default_factory=set)
    page: str = "list"
    opened: str = ""
    offset: int = 0
    fields: dict[str, str] = field(default_factory=lambda: {"naam": "", "noot": ""})
    composer: str = ""
    toast: str = ""

    def visible(self) -> list[str]:
        return self.items[self.offset : self.offset + SHOWN]

    def draw(self) -> list[UiNode]:
        nodes: list[UiNode] = getattr(self, f"_{self.page}")()
        return nodes

    def _bar(self, title: str, *, up: bool = True) -> list[UiNode]:
        bar = [node(title, (0.2, 0.06, 0.6, 0.1), resource_id=f"{APP}:id/title_bar")]
        return [icon("↩", 0.02, 0.05, "up"), *bar] if up else bar

    def _list(self) -> list[UiNode]:
        nodes = [*self._bar("Lijst", up=False), icon("⚙", 0.7, 0.05, "prefs")]
        nodes += [icon("✉", 0.85, 0.05, "chat"), icon("＋", 0.85, 0.92, "add")]
        holder = -1
        if len(self.items) > SHOWN:
            holder = len(nodes)
            area = (0.0, TOP, 1.0, TOP + SHOWN * HEIGHT)
            shape = "androidx.recyclerview.widget.RecyclerView"
            nodes.append(node("", area, shape, scrollable=True, resource_id=f"{APP}:id/rows"))
        for at, item in enumerate(self.visible()):
            y = TOP + at * HEIGHT
            row = len(nodes)
            nodes.append(
                node(
                    "",
                    (0.0, y, 1.0, y + HEIGHT),
                    "android.widget.LinearLayout",
                    clickable=True,
                    parent=holder,
                    resource_id=f"{APP}:id/row",
                )
            )
            nodes.append(node(item, (0.05, y + 0.01, 0.6, y + 0.06), parent=row))
            star = "★ weg" if item in self.starred else "★"
            nodes.append(icon(star, 0.7, y + 0.01, "star", row))
            nodes.append(icon("🗑", 0.85, y + 0.01, "bin", row))
        return nodes

    def _item(self) -> list[UiNode]:
        title = node(self.opened, (0.1, 0.2, 0.9, 0.25), resource_id=f"{APP}:id/name")
        return [*self._bar("Ding"), title, node("…", (0.1, 0.3, 0.9, 0.35))]

    def _form(self) -> list[UiNode]:
        nodes = [*self._bar("Nieuw"), icon("✓", 0.85, 0.05, "save")]
        for at, (name, held) in enumerate(self.fields.items()):
            y = 0.2 + at * 0.1
            nodes.append(
                node(
                    held,
                    (0.1, y, 0.9, y + 0.06),
                    "android.widget.EditText",
                    clickable=True,
                    hint=name,
                    resource_id=f"{APP}:id/{name}",
                )
            )
        return nodes

    def _prefs(self) -> list[UiNode]:
        nodes = self._bar("Opties")
        for at, (name, on) in enumerate(self.switches.items()):
            y = 0.2 + at * 0.1
            row = len(nodes)
            nodes += [
                node("", (0, y, 1, y + 0.08), "android.widget.LinearLayout", clickable=True),
                node(name, (0.05, y + 0.02, 0.6, y + 0.06), parent=row),
                node(
                    "",
                    (0.8, y + 0.02, 0.95, y + 0.06),
                    "android.widget.Switch",
                    checkable=True,
                    checked=on,
                    parent=row,
                ),
            ]
        y = 0.2 + len(self.switches) * 0.1
        row = len(nodes)
        nodes += [
            node("", (0, y, 1, y + 0.08), "android.widget.LinearLayout", clickable=True),
            node("Keuze", (0.05, y + 0.01, 0.6, y + 0.04), parent=row),
            node(self.chosen, (0.05, y + 0.04, 0.6, y + 0.07), parent=row),
        ]
        return nodes

    def _dialog(self) -> list[UiNode]:
        nodes = [node("Keuze", (0.15, 0.3, 0.8, 0.34), resource_id="android:id/alertTitle")]
        for at, choice in enumerate(self.choices):
            y = 0.36 + at * 0.06
            nodes.append(
                node(
                    choice,
                    (0.15, y, 0.85, y + 0.05),
                    "android.widget.CheckedTextView",
                    clickable=True,
                    checkable=True,
                    checked=choice == self.chosen,
                    resource_id="android:id/text1",
                )
            )
        cancel = node(
            "Niet",
            (0.6, 0.7, 0.85, 0.75),
            "android.widget.Button",
            clickable=True,
            resource_id="android:id/button2",
        )
        return [*nodes, cancel]

    def _chat(self) -> list[UiNode]:
        nodes = self._bar("Anna")
        shown = self.messages[-SHOWN:]
        top = TOP + (SHOWN - len(shown)) * HEIGHT
        for at, said in enumerate(shown):
            y = top + at * HEIGHT
            box = (0.4, y, 0.96, y + 0.06)
            nodes.append(node(said, box, resource_id=f"{APP}:id/message"))
        nodes.append(
            node(
                self.composer,
                (0.1, 0.91, 0.8, 0.96),
                "android.widget.EditText",
                clickable=True,
                hint="Bericht",
                resource_id=f"{APP}:id/compose",
            )
        )
        return [*nodes, icon("➤", 0.85, 0.91, "send")]


class Acts(RuleBasedStateMachine):
    """Does at random what the page in front offers, and keeps what must be in the ledger."""

    @initialize(
        items=st.lists(WORD, max_size=16, unique=True),
        switches=st.lists(WORD, min_size=1, max_size=4, unique=True),
        choices=st.lists(WORD, min_size=2, max_size=4, unique=True),
    )
    def start(self, items: list[str], switches: list[str], choices: list[str]) -> None:
        self.app = App(items, dict.fromkeys(switches, False), choices, choices[0])
        self.names = {*items, *switches, *choices, "Keuze", "Lijst", "Ding", "Anna", "Niet"}
        self.played = Played()
        self.submitted: list[dict[str, str]] = []
        """Forms whose new items were never in sight."""
        self.played.see(seen(self.app.draw(), activity=self._activity()))

    def _activity(self) -> str:
        return ".Prefs" if self.app.page == "dialog" else f".{self.app.page.title()}"

    def _shows(self, *expected: tuple[str, str, str]) -> None:
        expected += tuple(self._submitted_in_sight())
        found = self.played.see(seen(self.app.draw(), activity=self._activity()))
        kept = [
            (e.kind.value + (f" {e.saved.value}" if e.saved else ""), e.object, e.after)
            for e in found
        ]
        assert sorted(kept) == sorted(expected)
        assert all(e.by is EffectOf.AGENT and e.call_id for e in found)
        assert all(self._is_there(e.element_step, e.element, e.element_key) for e in found)

    def _submitted_in_sight(self) -> list[tuple[str, str, str]]:
        """Return the fields of forms whose new items are in sight for the first time."""
        if self.app.page != "list":
            return []
        come = [form for form in self.submitted if form["naam"] in self.app.visible()]
        self.submitted = [form for form in self.submitted if form not in come]
        return [("field saved", n, held) for form in come for n, held in form.items() if held]

    def _is_there(self, step: int, number: int, key: str) -> bool:
        """Return whether an effect points to an element of a stored screen."""
        if not step:
            return number == 0
        screens = [m for m in self.played.events if type(m).__name__ == "ObservationRecorded"]
        elements = next(m.observation.elements for m in screens if m.step == step)  # type: ignore[union-attr]
        return bool(elements[number - 1].key == key)

    def _named(self, name: str, beside: str = "") -> Element:
        screen = self.played.screen
        assert screen is not None
        found = [e for e in screen.elements if e.resource_id.endswith(f"/{name}")]
        if beside:
            row = next(e for e in screen.elements if e.label == beside and e.clickable)
            found = [e for e in found if e.parent == row.number]
        return found[0]

    def _go(self, page: str) -> None:
        self.app.page = page

    def _new(self, word: str) -> bool:
        taken = any(word in name or name in word for name in self.names)
        self.names.add(word)
        return not taken

    # --- navigation, which is no effect ----------

    @precondition(lambda self: self.app.page in {"item", "prefs", "chat"})
    @rule(key=st.booleans())
    def leave(self, key: bool) -> None:
        was = self.app.composer if self.app.page == "chat" else ""
        if key:
            self.played.back()
        else:
            self.played.press(self._named("up"))
        self._go("list")
        self.app.composer = ""
        gone = [("field abandoned", "Bericht", "")] if was else []
        self._shows(*gone)

    @precondition(lambda self: self.app.page == "list")
    @rule(page=st.sampled_from([("prefs", "prefs"), ("chat", "chat"), ("add", "form")]))
    def open_page(self, page: tuple[str, str]) -> None:
        self.played.press(self._named(page[0]))
        self._go(page[1])
        self.app.fields = dict.fromkeys(self.app.fields, "")
        self._shows()

    @precondition(lambda self: self.app.page == "list" and self.app.items)
    @rule(data=st.data())
    def open_item(self, data: st.DataObject) -> None:
        self.app.opened = data.draw(st.sampled_from(self.app.visible()))
        self.played.press(self.app.opened)
        self._go("item")
        self._shows()

    @precondition(lambda self: self.app.page == "list" and len(self.app.items) > SHOWN)
    @rule(by=st.integers(-6, 6))
    def scroll(self, by: int) -> None:
        rows = next(e for e in self.played.screen.elements if e.scrollable)  # type: ignore[union-attr]
        self.played.act("scroll", rows, direction="down" if by > 0 else "up")
        self.app.offset = min(max(self.app.offset + by, 0), len(self.app.items) - SHOWN)
        self._shows()

    @rule()
    def wait(self) -> None:
        self._shows()

    @precondition(lambda self: self.app.page == "prefs")
    @rule()
    def open_choices(self) -> None:
        self.played.press(next(e for e in self.played.screen.elements if "Keuze" in e.label))  # type: ignore[union-attr]
        self._go("dialog")
        self._shows(("dialog_opened", "Keuze", ""))

    # --- what changes something ----------

    @precondition(lambda self: self.app.page == "prefs")
    @rule(data=st.data())
    def toggle(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.app.switches)))
        self.played.press(name)
        on = self.app.switches[name] = not self.app.switches[name]
        self._shows(("state", name, "on" if on else "off"))

    @precondition(lambda self: self.app.page == "dialog")
    @rule(data=st.data())
    def choose(self, data: st.DataObject) -> None:
        choice = data.draw(st.sampled_from([*self.app.choices, "Niet"]))
        self.played.press(choice)
        changed = choice not in {"Niet", self.app.chosen}
        if changed:
            self.app.chosen = choice
        self._go("prefs")
        state = [("state", "Keuze", choice)] if changed else []
        self._shows(("dialog_closed", "Keuze", choice), *state)

    @precondition(lambda self: self.app.page == "list" and self.app.items)
    @rule(data=st.data())
    def star(self, data: st.DataObject) -> None:
        item = data.draw(st.sampled_from(self.app.visible()))
        self.played.press(self._named("star", item))
        self.app.starred ^= {item}
        self._shows(("state", item, "★ weg" if item in self.app.starred else "★"))

    @precondition(lambda self: self.app.page == "list" and self.app.items)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        item = data.draw(st.sampled_from(self.app.visible()))
        self.played.press(self._named("bin", item))
        self.app.items.remove(item)
        self.app.offset = max(min(self.app.offset, len(self.app.items) - SHOWN), 0)
        self._shows(("item_removed", item, ""))

    @precondition(lambda self: self.app.page == "form")
    @rule(name=st.sampled_from(["naam", "noot"]), word=WORD)
    def fill(self, name: str, word: str) -> None:
        if not self._new(word):
            return
        self.played.act("type_text", self._named(name), text=word)
        self.app.fields[name] = word
        self._shows(("field typed", name, word))

    @precondition(lambda self: self.app.page == "form")
    @rule()
    def drop_form(self) -> None:
        self.played.back()
        self._go("list")
        left = [("field abandoned", name, "") for name, held in self.app.fields.items() if held]
        self._shows(*left)

    @precondition(lambda self: self.app.page == "form" and self.app.fields["naam"])
    @rule(at_top=st.booleans())
    def save_form(self, at_top: bool) -> None:
        item = self.app.fields["naam"]
        self.played.press(self._named("save"))
        self.app.items.insert(0 if at_top else len(self.app.items), item)
        self._go("list")
        shown = item in self.app.visible()
        fate = "saved" if shown else "submitted"
        fates = [(f"field {fate}", name, held) for name, held in self.app.fields.items() if held]
        self._shows(*fates, *([("item_added", item, "")] if shown else []))
        if not shown:
            self.submitted.append(dict(self.app.fields))

    @precondition(lambda self: self.app.page == "chat")
    @rule(word=WORD)
    def write(self, word: str) -> None:
        if not self._new(word):
            return
        self.played.act("type_text", self._named("compose"), text=word)
        self.app.composer = word
        self._shows(("field typed", "Bericht", word))

    @precondition(lambda self: self.app.page == "chat" and self.app.composer)
    @rule()
    def send(self) -> None:
        self.played.press(self._named("send"))
        word, self.app.composer = self.app.composer, ""
        self.app.messages.append(word)
        self._shows(("sent", "Anna", word))

    @invariant()
    def what_stands_is_true(self) -> None:
        if not hasattr(self, "app"):
            return
        stands = self.played.ledger.not_undone()
        newest = {e.object: e.after for e in stands if e.page == "Opties"}
        for name, on in self.app.switches.items():
            assert newest.get(name, "off") == ("on" if on else "off")
        open_texts = {e.object for e in stands if e.saved is FieldFate.TYPED and not e.settled_by}
        held = {name for name, text in self.app.fields.items() if text}
        assert open_texts == (held if self.app.page == "form" else set()) | (
            {"Bericht"} if self.app.composer else set()
        )


TestActs = Acts.TestCase
# A shorter example takes minutes to find; what fails says what was expected and found.
TestActs.settings = settings(
    stateful_step_count=30, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate)
)
