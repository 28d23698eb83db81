"""What the History knows: the stored sessions page by page, the filter, and what a search found.

Sends no op. The store looks for the facts of a filter, however many sessions it has. Invariant:
what is found is what the store gave for the newest wish, never for an older one that came late.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent.errors import UsageError
from agent.protocol import ListSessions, SearchEvents
from agent.records import SearchHit, Session
from agent.state.device_names import device_names
from console.screens.history.filters import Filter, parse_filter
from widgets.lists.hosts import session_host
from widgets.lists.session_rows import device_name

if TYPE_CHECKING:
    from console.base_app import ConsoleApp

PAGE = 200
MOST_HITS = 100


class StoredSessions:
    """The stored sessions, as far as they were read.

    Args:
        app: whom they are asked through.
        changed: called when something has come.
    """

    def __init__(self, app: "ConsoleApp", changed: Callable[[], None]) -> None:
        self._app = app
        self._changed = changed
        self.filter = Filter("")
        self.wished = ""
        """The filter as it was wished last, also where it is none."""
        self.listed: list[Session] = []
        self.is_read = False
        """Whether a page has come."""
        self.has_all = False
        self.hits: tuple[SearchHit, ...] = ()
        self.said = ""
        """What is wrong with the wish; empty when nothing is."""
        self.is_searching = False
        self._listed_for = self.filter.facts
        """The facts of what is listed."""
        self._last = ""
        """The session after which the next page begins."""
        self._known: dict[str, Session] = {}
        self._listed_by_id: dict[str, Session] = {}
        self._is_paging = False

    def wish(self, text: str) -> None:
        """List what fits a filter, and search for its words."""
        self.said, self.wished = "", text
        try:
            self.filter = parse_filter(text)
        except UsageError as error:
            # Half a filter is no mistake yet: what was shown before stays.
            self.said = str(error)
            return
        if self.filter.words and not self.is_searching:
            self._app.spawn(self._search(), "searching")
        elif not self.filter.words:
            self.hits = ()
            if self.is_behind:
                self.has_all = False
                self.read_page()

    @property
    def is_reading(self) -> bool:
        """Whether what fits the filter is still to come."""
        if self.filter.words:
            return self.is_searching
        return not self.is_read or self.is_behind or (self._is_paging and len(self.listed) < PAGE)

    @property
    def is_behind(self) -> bool:
        """Whether what is listed was read for other facts."""
        return self.filter.facts != self._listed_for

    def read_page(self) -> None:
        """Read the next page of the list, unless it is whole or one is under way."""
        if not self.has_all and not self._is_paging:
            self._is_paging = True
            self._app.spawn(self._page(), "reading older sessions")

    async def _page(self) -> None:
        try:
            while True:
                wanted = self.filter
                before = "" if self.is_behind else self._last
                page = await self._app.core.look_up(
                    ListSessions(limit=PAGE, before=before, **self._query(wanted))
                )
                if self.filter.facts == wanted.facts:
                    break
        finally:
            self._is_paging = False
        if not before:
            self.listed, self._listed_by_id = [], {}
        self._listed_for = wanted.facts
        self._last = page[-1].session_id if page else before
        fitting = [one for one in page if self.holds(one)]
        self.listed += fitting
        self._listed_by_id.update((one.session_id, one) for one in fitting)
        self.is_read = True
        self.has_all = len(page) < PAGE
        if not fitting or len(self.listed) < PAGE:
            # The store is not told every fact; what it leaves to us may be far down.
            self.read_page()
        self._changed()

    def _query(self, wanted: Filter) -> dict[str, Any]:
        names = device_names(self._app.bridge.state.devices)
        return wanted.query(names, self._app.now_ms())

    async def _search(self) -> None:
        """Search for the newest wish until there is no newer one."""
        self.is_searching = True
        try:
            searched = Filter("")
            while self.filter.words and self.filter != searched:
                searched = self.filter
                await self._search_for(searched)
        finally:
            self.is_searching = False
        self._changed()

    async def _search_for(self, wanted: Filter) -> None:
        core = self._app.core
        query = SearchEvents(query=_typed(wanted.words), limit=MOST_HITS, **self._query(wanted))
        try:
            hits = await core.look_up(query)
        except UsageError as error:
            # Half a query is no mistake yet: what was found before stays.
            self.said = error.message
            return
        for session_id in {hit.session_id for hit in hits}:
            if self.session_of(session_id) is None:
                self._known[session_id] = await core.session(session_id)
        self.hits, self.said = hits, ""

    def session_of(self, session_id: str) -> Session | None:
        """Return what is known of a session; None where nothing is."""
        view = self._app.bridge.state.sessions.get(session_id)
        if view is not None:
            return view.session
        return self._known.get(session_id) or self._listed_by_id.get(session_id)

    def newest(self) -> list[Session]:
        """Return what is listed as it is now: the picture knows of changes that came since."""
        views = self._app.bridge.state.sessions
        return [
            view.session if (view := views.get(one.session_id)) is not None else one
            for one in self.listed
        ]

    def host_of(self, key: str) -> str:
        """Return the host of the session of a row: its id, with the number of an event or not."""
        session = self.session_of(key.partition("/")[0])
        return session_host(session) if session is not None else ""

    def holds(self, session: Session | None) -> bool:
        """Return whether a session has the facts of the filter."""
        if session is None or not self.filter.facts:
            return True
        app = self._app
        name = device_name(session.serial, app.bridge.state.devices)
        return self.filter.holds(session, name, app.now_ms())


def _typed(wanted: str) -> str:
    is_open = wanted.count('"') % 2 or not wanted[-1].isalnum()
    return wanted if is_open else f"{wanted}*"
