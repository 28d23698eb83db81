"""What Android prints of its windows, by version, written after its sources.

Each part names where its shape was read; the figures are made up. AOSP 9: BPI-S905X3-Android9; 10
to 14: the SDK's sources, `com.android.server.wm`; 15: One UI 7's; 16: AxionAOSP and a published
`dumpsys` of an emulator of API 36, which has every line of a display's section in its order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

NAME = "com.example.notes"
ACTIVITY = f"{NAME}/{NAME}.EditActivity"


@dataclass(frozen=True)
class Shown:
    """One display as a test wants it."""

    number: int = 0
    size: tuple[int, int] = (1080, 2400)
    turned: bool = False
    focus: str | None = ACTIVITY
    """The title of the focused window; None: the display has no focus."""
    app: str | None = f"{NAME}/.EditActivity"
    locked: bool = False
    keyboard: str = "hidden"
    """hidden, shown, or flat: said to be visible, with nothing to see."""
    token: str = "86fb04f"


def current(display: Shown) -> tuple[int, int]:
    width, height = display.size
    return (height, width) if display.turned else (width, height)


def focus_lines(android: int, display: Shown) -> list[str]:
    """DisplayContent.dump since 10, WindowManagerService.dumpWindowsNoHeaderLocked before."""
    window = f"Window{{{display.token} u0 {display.focus}}}" if display.focus else "null"
    record = f"ActivityRecord{{6a2b12 u0 {display.app} t12}}"
    if android <= 10:
        record = f"AppWindowToken{{fde865c token=Token{{5151ccf {record}}}}}"
    return [f"  mCurrentFocus={window}", f"  mFocusedApp={record if display.app else 'null'}"]


def size_line(android: int, display: Shown) -> str:
    """DisplayContent.dump; `mMinSizeOfResizeableTaskDp` since 13."""
    natural, (width, height) = display.size, current(display)
    least = " mMinSizeOfResizeableTaskDp=220" if android >= 13 else ""
    short, long = min(natural), max(natural)
    return (
        f"    init={natural[0]}x{natural[1]} 420dpi{least} cur={width}x{height} "
        f"app={width}x{height - 130} rng={short}x{short}-{long}x{long}"
    )


def keyboard_lines(android: int, display: Shown) -> list[str]:
    """InsetsStateController.dump: the sources since 10, a provider with `mImeShowing` since 11."""
    width, height = current(display)
    top = {"hidden": 0, "shown": height * 2 // 3, "flat": height}[display.keyboard]
    frame = "[0,0][0,0]" if display.keyboard == "hidden" else f"[0,{top}][{width},{height}]"
    visible = str(display.keyboard != "hidden").lower()
    if android >= 14:
        source = (
            f"InsetsSource id=3 type=ime frame={frame} visible={visible} flags= sideHint=BOTTOM"
        )
    elif android >= 11:
        source = f"InsetsSource type=ITYPE_IME frame={frame} visibleFrame={frame} visible={visible}"
    else:
        source = f"InsetsSource type=TYPE_IME frame={frame} visible={visible}"
    bar = f"type=statusBars frame=[0,0][{width},142] visible=true flags= sideHint=TOP"
    lines = [
        "  WindowInsetsStateController",
        "    InsetsState",
        f"        InsetsSource id=f1880000 {bar}" if android >= 14 else "",
        f"        {source}",
        "    Control map:",
    ]
    if android >= 11:
        # It stays set for a keyboard of hardware, whose source has no height.
        showing = str(display.keyboard != "hidden").lower()
        lines += [
            "      ImeInsetsSourceProvider",
            f"        mSource={source}",
            f"        mImeShowing={showing}",
        ]
    return lines


def display_section(android: int, display: Shown) -> list[str]:
    """One `Display: mDisplayId=N` of `dumpsys window displays`."""
    behind = {10: "", 11: " stacks=5", 12: " rootTasks=5", 13: " rootTasks=5"}.get(android, "")
    heading = f"  Display: mDisplayId={display.number}" + (
        behind or " (organized)" * (android >= 14)
    )
    width, height = current(display)
    locked = str(display.locked).lower()
    lines = [heading, size_line(android, display), "    deferred=false mLayoutNeeded=false"]
    if android < 10:
        return [*lines, "", "  Application tokens in top down Z order:", ""]
    lines += ["  mLayoutSeq=103", *focus_lines(android, display), ""]
    lines += [
        f"  DisplayFrames w={width} h={height} r={int(display.turned)}",
        "",
        "  DisplayPolicy",
        "    mAwake=true mScreenOnEarly=true mScreenOnFully=true",
        "    mShowingDream=false mDreamingLockscreen=false",
    ]
    if android == 10:
        lines.append(f"    mStatusBar=Window{{836a84b u0 StatusBar}} isStatusBarKeyguard={locked}")
    elif android == 11:
        lines.append(
            f"    mExpandedPanel=Window{{8491cd2 u0 NotificationShade}} isKeyguardShowing={locked}"
        )
    else:
        lines += [
            "    mExpandedPanel=Window{8491cd2 u0 NotificationShade}",
            f"    isKeyguardShowing={locked}",
        ]
    lines += ["  DisplayRotation", "    mCurrentAppOrientation=SCREEN_ORIENTATION_UNSPECIFIED"]
    if android >= 11:
        lines.append(f"    mRotation={int(display.turned)} mDeferredRotationPauseCount=0")
    return [*lines, "", *keyboard_lines(android, display), ""]


def displays_text(android: int, displays: Sequence[Shown]) -> str:
    """`dumpsys window displays`, in the order that is given."""
    lines = ["WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)"]
    for display in displays:
        lines += display_section(android, display)
    return "\n".join(lines) + "\n"


def window_record(
    android: int, title: str, token: str, *, display: int = 0, flags: str = ""
) -> list[str]:
    """One window of `dumpsys window windows`; its flags are a number until 8.1."""
    package = title.partition("/")[0]
    names = flags or "LAYOUT_IN_SCREEN LAYOUT_INSET_DECOR SPLIT_TOUCH HARDWARE_ACCELERATED"
    stack = {9: "stackId=4 ", 10: "stackId=4 "}.get(android, "rootTaskId=57 ")
    attributes = [
        "    mAttrs={(0,0)(fillxfill) sim={adjust=pan forwardNavigation} ty=BASE_APPLICATION",
        f"      fl={names}",
        "      pfl=NO_MOVE_ANIMATION FIT_INSETS_CONTROLLED}",
    ]
    if android < 9:
        bits = 0x81812100 if "SECURE" in names else 0x81810100
        attributes = [
            f"    mAttrs=WM.LayoutParams{{(0,0)(fillxfill) sim=#110 ty=1 fl=#{bits:x} wanim=0x1}}"
        ]
    return [
        f"  Window #3 Window{{{token} u0 {title}}}:",
        f"    mDisplayId={display} {stack}mSession=Session{{8e5857d 8821:u0a10178}} "
        "mClient=android.os.BinderProxy@1c9fc79",
        f"    mOwnerUid=10178 showForAllUsers=false package={package} appop=NONE",
        *attributes,
        "    Requested w=1080 h=2400 mLayoutSeq=103",
        "    isOnScreen=true",
        "    isVisible=true",
    ]


def windows_text(
    android: int, displays: Sequence[Shown], records: Sequence[Sequence[str]] = ()
) -> str:
    """`dumpsys window windows`; the focus stands at its end until Android 9 alone."""
    lines = ["WINDOW MANAGER WINDOWS (dumpsys window windows)"]
    main = next(one for one in displays if one.number == 0)
    made = records or [
        window_record(android, "NotificationShade", "8491cd2", flags="NOT_FOCUSABLE SECURE"),
        *(
            window_record(android, one.focus, one.token, display=one.number)
            for one in displays
            if one.focus
        ),
    ]
    for record in made:
        lines += record
    lines += ["", "  mGlobalConfiguration={1.0 310mcc260mnc [en_US] ldltr}"]
    if android < 10:
        lines += focus_lines(android, main)
    else:
        lines.append("  mTopFocusedDisplayId=0")
    if 11 <= android <= 15:
        lines.append(
            f"  imeLayeringTarget in display# 0 Window{{{main.token} u0 {main.focus or 'x'}}}"
        )
    return "\n".join([*lines, f"  mRotation={int(main.turned)}"]) + "\n"


def policy_text(android: int, *, showing: bool, occluded: bool = False, secure: bool = True) -> str:
    """`dumpsys window policy`, PhoneWindowManager.dump and KeyguardServiceDelegate.dump."""
    flag = {True: "true", False: "false"}
    lines = [
        "WINDOW MANAGER POLICY STATE (dumpsys window policy)",
        "    mSafeMode=false mSystemReady=true mSystemBooted=true",
    ]
    if android <= 7:
        lines.append(
            f"    mShowingLockscreen={flag[showing]} mShowingDream=false mDreamingLockscreen=false"
        )
        return "\n".join([*lines, f"    isStatusBarKeyguard={flag[showing]}"]) + "\n"
    changed = " mKeyguardOccludedChanged=false mPendingKeyguardOccluded=false"
    lines += [
        f"    mKeyguardOccluded={flag[occluded]}{changed}",
        "    KeyguardServiceDelegate",
        f"      showing={flag[showing]}",
    ]
    if android <= 13:
        lines.append(f"      showingAndNotOccluded={flag[showing and not occluded]}")
    lines.append(f"      inputRestricted={flag[showing]}")
    lines.append(f"      occluded={flag[occluded]}")
    if android <= 16:
        lines.append(f"      secure={flag[secure]}")
    lines += ["      dreaming=false", "      systemIsReady=true", "      deviceHasKeyguard=true"]
    if android <= 16:
        lines += ["      KeyguardStateMonitor", f"        mIsShowing={flag[showing]}"]
        lines += ["        mSimSecure=false", "        mCurrentUserId=0"]
    return "\n".join(lines) + "\n"


def input_method_text(android: int, *, shown: bool, view: bool, bits: int | None = None) -> str:
    """`dumpsys input_method`: the service's part, then the input method's own."""
    flag = {True: "true", False: "false"}
    name = "com.example.keys/.Keys"
    if android >= 16:
        lines = ["Input Method Manager Service state:", "  UserId=0", "      mBindingController:"]
        lines += [f"        mSelectedMethodId={name}", f"        mImeWindowVis={bits or 0}"]
        lines += [f"      mShowRequested={flag[shown]}", f"      mInputShown={flag[shown]}"]
    else:
        lines = ["Current Input Method Manager state:", f"  mCurMethodId={name}"]
        requested = f"  mShowRequested={flag[shown]} mShowForced=false"
        lines += (
            [requested, f"  mInputShown={flag[shown]}"]
            if android >= 14
            else [f"{requested} mInputShown={flag[shown]}"]
        )
    if bits is not None and android < 16:
        lines.insert(0, f"  mImeWindowVis={bits}")
    return "\n".join([*lines, "Input method service state:", f"  mIsInputViewShown={flag[view]}"])


def last_anr_text(android: int, displays: Sequence[Shown]) -> str:
    """The copy that a bare `dumpsys window` prints first (saveANRStateLocked, kept two hours)."""
    lines = ["WINDOW MANAGER LAST ANR (dumpsys window lastanr)", "  ANR time: 28 Nov 2026, 04:10"]
    if android >= 15:
        lines += [
            f"  Display #{one.number} currentFocus=Window{{1 u0 {one.focus}}} focusedApp={one.app}"
            for one in displays
        ]
        return "\n".join([*lines, ""]) + "\n"
    body = windows_text(android, displays).partition("\n")[2]
    return "\n".join([*lines, "", body, "", "Last ANR continued", displays_text(android, displays)])


def bare_text(android: int, displays: Sequence[Shown], before: Sequence[Shown] = ()) -> str:
    """`dumpsys window` without words, in the order of WindowManagerService.doDump."""
    none = "WINDOW MANAGER LAST ANR (dumpsys window lastanr)\n  <no ANR has occurred since boot>\n"
    main = next(one for one in displays if one.number == 0)
    return "\n".join(
        (
            last_anr_text(android, before) if before else none,
            policy_text(android, showing=main.locked),
            "WINDOW MANAGER ANIMATOR STATE (dumpsys window animator)\n    No animations\n",
            "WINDOW MANAGER SESSIONS (dumpsys window sessions)\n  Session{8e5857d 8821}:\n",
            displays_text(android, displays),
            "WINDOW MANAGER TOKENS (dumpsys window tokens)\n  All tokens:\n",
            windows_text(android, displays),
        )
    )


COVER = Shown(
    number=1,
    size=(720, 748),
    focus=None,
    app="com.android.systemui/.subscreen.SubHomeActivity",
    token="14d88c3",
)
"""The outer display of a flip, which has no focus of its own (a public report of 2024)."""
CLUSTER = Shown(
    number=2, size=(1920, 720), focus=None, app="com.example.cluster/.Map", token="aa11bb2"
)
"""The display behind the wheel of a car (a public report of 2025, Android 10)."""
HDMI = Shown(number=3, size=(1920, 1080), focus=None, app="com.example.show/.Slides", token="9c01d")
OTHERS = (COVER, CLUSTER, HDMI)


def on(display: Shown, **changed: object) -> Shown:
    """Return a display with something changed."""
    return replace(display, **changed)  # type: ignore[arg-type]
