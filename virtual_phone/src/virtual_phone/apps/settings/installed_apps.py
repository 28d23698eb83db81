"""The pages of Settings about apps: the list of them, and one app with what can be done to it.

Pages only; the frame is in `settings`. Invariant: data is deleted only after a question.
"""

from virtual_phone.app import NoState, Page
from virtual_phone.apps.settings.app import open_sub, settings, sub_page
from virtual_phone.ui.patterns import empty, group, preference, screen, title_bar
from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import art, button, column, edges, recycler, row, text

P = Page[NoState]


@sub_page(
    "apps",
    "Apps",
    icon="apps",
    color="#5A62B8",
    summary="Recent apps, default apps",
    activity=".Settings$ManageApplicationsActivity",
    actions=(
        "android.settings.APPLICATION_SETTINGS",
        "android.settings.MANAGE_APPLICATIONS_SETTINGS",
        "android.settings.MANAGE_ALL_APPLICATIONS_SETTINGS",
    ),
)
def apps(page: P) -> list[View]:
    """List the installed apps."""
    from virtual_phone.apps import icon_of
    from virtual_phone.system.launcher import icon_art

    def item(package: str, label: str) -> View:
        made = preference(
            label,
            summary=package,
            on_click=page.opener(".applications.InstalledAppDetails", package=package),
            key=f"app {package}",
        )
        made.children.insert(0, art(icon_art(icon_of(package)), 38, 38, id="android:id/icon"))
        return made

    shown = sorted(
        (i for i in page.host.packages if i.launcher_activity), key=lambda i: i.label.lower()
    )
    return [group(*(item(i.package, i.label) for i in shown), title=f"{len(shown)} apps")]


@settings.page(
    ".applications.InstalledAppDetails",
    actions=[
        "android.settings.APPLICATION_DETAILS_SETTINGS",
        "android.settings.APPLICATION_DETAILS_SETTINGS package",
    ],
)
def app_details(page: P) -> View:
    """Show one app: open it, stop it, clear its data."""
    from virtual_phone.apps import icon_of
    from virtual_phone.system.launcher import icon_art

    package = page.args.get("package") or page.args.get("data", "").partition(":")[2]
    info = page.host.packages.get(package)
    if info is None:
        return screen(title_bar("App info", back=page.close), empty("apps", "App not found"))

    def open_it() -> None:
        if info.launcher_activity is not None:
            page.host.activities.open(page.state, package, info.launcher_activity, {})

    def ask(what: str, question: str, act: str) -> None:
        def go() -> None:
            end = page.host.activities.clear if what == "clear" else page.host.activities.force_stop
            end(package)
            page.toast("Data cleared" if what == "clear" else f"{info.label} stopped")

        page.confirm(question, act, "OK", go, local="ask")

    if page.local("ask") == "stop":
        ask("stop", "Force stop?", "If you force stop an app, it may misbehave.")
    elif page.local("ask") == "clear":
        ask("clear", "Delete app data?", "This app's data will be deleted for good.")
    granted = page.host.permissions.of(package)
    return screen(
        title_bar("App info", back=page.close),
        recycler(
            "recycler_view",
            column(
                art(icon_art(icon_of(package)), 72, 72, id="entity_header_icon"),
                text(info.label, TextStyle(24, 400), id="entity_header_title"),
                cross=Align.CENTER,
                gap=10,
                pad=edges(0, 12),
            ),
            row(
                button(
                    "Open",
                    open_it,
                    look="tonal",
                    weight=1,
                    id="button1",
                    enabled=info.launcher_activity is not None,
                ),
                button(
                    "Force stop", page.setter("ask", "stop"), look="tonal", weight=1, id="button3"
                ),
                width=MATCH,
                gap=10,
                pad=edges(16, 12),
            ),
            group(
                preference(
                    "Notifications",
                    summary="On",
                    key="row Notifications",
                    on_click=open_sub(page, "notifications"),
                ),
                preference(
                    "Permissions",
                    key="row Permissions",
                    summary=", ".join(
                        p.rpartition(".")[2].replace("_", " ").capitalize() for p in granted
                    )
                    or "No permissions granted",
                    on_click=lambda: page.toast("Permissions are asked for when needed"),
                ),
                preference(
                    "Storage & cache",
                    summary="Clear this app's data",
                    key="row Storage",
                    on_click=page.setter("ask", "clear"),
                ),
                preference("Version", summary=info.version_name, key="row Version"),
            ),
            pad=(0, 0, 0, 40),
            id="recycler_view",
        ),
    )
