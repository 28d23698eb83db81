"""`dumpsys window`, `activity`, `display` and `input`, in the shape of Android 14."""

from __future__ import annotations

from typing import TYPE_CHECKING

from virtual_phone.commands.intents import shorten
from virtual_phone.lock import is_secure

if TYPE_CHECKING:
    from virtual_phone.phone import Phone
    from virtual_phone.state.records import PageState, TaskState, WindowInfo


SYSTEM_SERVER = 655  # The pid of the process that draws what no app draws.


def _window(window: WindowInfo) -> str:
    return f"Window{{{window.token_hex} u0 {window.title}}}"


def _pid(phone: Phone, package: str) -> int:
    process = phone.processes.of(package)
    return process.pid if process is not None else SYSTEM_SERVER


def _owner(phone: Phone, package: str) -> str:
    """Return who owns a window, as pid:user."""
    process = phone.processes.of(package)
    if process is None:
        return f"{SYSTEM_SERVER}:1000"
    return f"{process.pid}:{process.user.replace('_', '')}"


def _record(phone: Phone, package: str) -> str:
    process = phone.processes.of(package)
    return process.record if process is not None else f"{SYSTEM_SERVER}:system/1000"


def record(task: TaskState, page: PageState) -> str:
    """Return `ActivityRecord{…}` of a page."""
    component = shorten(f"{task.package}/{page.activity}")
    return f"ActivityRecord{{{page.token + 1:x} u0 {component} t{task.id}}}"


def dump_windows(phone: Phone, part: str) -> str:
    """Return `dumpsys window [displays|windows|…]`."""
    rows: list[str] = []
    if part in ("all", "-a"):
        rows += [dump_policy(phone), ""]
    if part in ("displays", "d", "all", "-a"):
        rows += _displays(phone)
    if part in ("windows", "w", "all", "-a", "visible", "v"):
        rows += _windows(phone)
    return "\n".join(rows or [*_windows(phone)])


def _focus(phone: Phone, display: int) -> list[str]:
    focused = next((one for one in phone.windows.all(display) if one.focused), None)
    top = phone.tasks.top(display)
    return [
        f"  mCurrentFocus={_window(focused) if focused else 'null'}",
        f"  mFocusedApp={record(*top) if top else 'null'}",
    ]


def _displays(phone: Phone) -> list[str]:
    rows = ["WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)"]
    for entry in phone.displays.all():
        width, height, density = phone.displays.size(entry.id)
        rotation = phone.rotation.quarters if entry.id == 0 else 0
        rows += [
            f"  Display: mDisplayId={entry.id} (organized)",
            f"    init={entry.width}x{entry.height} {density}dpi "
            f"mMinSizeOfResizeableTaskDp=220 cur={width}x{height} app={width}x{height} "
            f"rng={min(width, height)}x{min(width, height)}-{max(width, height)}x"
            f"{max(width, height)}",
            f"    deferred=false mLayoutNeeded=false mTouchExcludeRegion=SkRegion((0,0,{width},"
            f"{height}))",
            "",
            *_focus(phone, entry.id),
            "",
            "  DisplayRotation",
            "    mCurrentAppOrientation=SCREEN_ORIENTATION_UNSPECIFIED",
            "    mLastOrientation=-1",
            f"    mCurrentRotation=ROTATION_{rotation * 90} mRotation={rotation} "
            f"mDeferredRotationPauseCount=0",
            "",
        ]
    return rows


def _windows(phone: Phone) -> list[str]:
    rows = ["WINDOW MANAGER WINDOWS (dumpsys window windows)"]
    for display in phone.displays.all():
        for number, window in enumerate(phone.windows.all(display.id)):
            left, top, right, bottom = window.frame
            edges = f"[{left},{top}][{right},{bottom}]"
            rows += [
                f"  Window #{number} {_window(window)}:",
                f"    mDisplayId={window.display} "
                f"mSession=Session{{{window.token + 7:x} {_owner(phone, window.package)}}} "
                f"mClient=android.os.BinderProxy@{window.token + 3:x}",
                f"    mOwnerUid={phone.processes.uid_of(window.package)} "
                f"showForAllUsers=false package={window.package} appop=NONE",
                f"    mAttrs={{(0,0)(fillxfill) sim={{adjust=resize}} ty={window.type} "
                f"fmt=TRANSLUCENT{' fl=SECURE' if window.secure else ''}}}",
                f"    Requested w={right - left} h={bottom - top} mLayoutSeq=1",
                f"    mFrame={edges} last={edges}",
                f"    Frames: parent={edges} display={edges} frame={edges}",
                "    mHasSurface=true isReadyForDisplay()=true mWindowRemovalAllowed=false",
                "    isOnScreen=true",
                "    isVisible=true",
            ]
    rows += [
        "",
        "  mGlobalConfiguration={1.0 310mcc260mnc [en_US] ldltr}",
        "  mTopFocusedDisplayId=0",
    ]
    keyboard = next((one for one in phone.windows.all() if one.title == "InputMethod"), None)
    if keyboard is not None:
        rows.append(f"  mInputMethodWindow={_window(keyboard)}")
    rows += _focus(phone, 0)
    rows += [
        f"  mInTouchMode=true mRotation={phone.rotation.quarters}",
        f"  mDisplayFrozen=false windows=0 client=false apps=0 mRotation={phone.rotation.quarters}",
    ]
    return rows


def dump_policy(phone: Phone) -> str:
    """Return `dumpsys window policy`."""
    on, locked = phone.power.screen_on, phone.power.locked
    flag = {True: "true", False: "false"}
    return "\n".join(
        [
            "WINDOW MANAGER POLICY STATE (dumpsys window policy)",
            "    mSafeMode=false mSystemReady=true mSystemBooted=true",
            f"    mAwake={flag[on]} mScreenOnEarly={flag[on]} mScreenOnFully={flag[on]}",
            f"    mDreamingLockscreen={flag[locked and not on]} mShowingLockscreen={flag[locked]}",
            f"    mInputRestricted={flag[locked]} isStatusBarKeyguard={flag[locked]}",
            "    KeyguardServiceDelegate",
            f"      showing={flag[locked]}",
            f"      showingAndNotOccluded={flag[locked]}",
            "      inputRestricted=" + flag[locked],
            "      occluded=false",
            f"      secure={flag[is_secure(phone)]}",
            "      systemIsReady=true",
            f"      screenState={'SCREEN_STATE_ON' if on else 'SCREEN_STATE_OFF'}",
            f"      interactiveState=INTERACTIVE_STATE_{'AWAKE' if on else 'SLEEP'}",
            "      KeyguardStateMonitor",
            f"        mIsShowing={flag[locked]}",
            "        mSimSecure=false",
            f"        mInputRestricted={flag[locked]}",
            "        mCurrentUserId=0",
        ]
    )


def dump_activities(phone: Phone) -> str:
    """Return `dumpsys activity activities`."""
    rows = ["ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)"]
    for display in phone.displays.all():
        tasks = [task for task in phone.tasks.front_to_back() if task.display == display.id]
        rows.append(f"Display #{display.id} (activities from top to bottom):")
        for index, task in enumerate(tasks):
            rows += _task(phone, task, front=index == 0)
        top = phone.tasks.top(display.id)
        shown = record(*top) if top else "null"
        rows += [f"    topResumedActivity={shown}", f"    mResumedActivity: {shown}", ""]
    top = phone.tasks.top()
    shown = record(*top) if top else "null"
    rows += [
        f"  ResumedActivity: {shown}",
        f"  mFocusedApp={shown}",
        f"  mLastPausedActivity: {shown}",
        "  mCurTaskIdForUser={0="
        + str(max((task.id for task in phone.tasks.front_to_back()), default=0))
        + "}",
    ]
    return "\n".join(rows)


def _task(phone: Phone, task: TaskState, *, front: bool) -> list[str]:
    width, height, _ = phone.displays.size(task.display)
    kind = "home" if task.package.endswith("launcher3") else "standard"
    name = (
        f"Task{{{task.pages[0].token + 5:x} #{task.id} type={kind} "
        f"A={phone.processes.uid_of(task.package)}:{task.package} U=0 "
        f"visible={str(front).lower()} visibleRequested={str(front).lower()} mode=fullscreen "
        f"translucent={str(not front).lower()} sz={len(task.pages)}}}"
    )
    rows = [
        f"  * {name}",
        f"    mBounds=Rect(0, 0 - {width}, {height})",
        "    mMinWidth=-1 mMinHeight=-1",
        f"    affinity={task.package}",
    ]
    for number, page in reversed(list(enumerate(task.pages))):
        on_top = front and number == len(task.pages) - 1
        rows += [
            f"    * Hist  #{number}: {record(task, page)}",
            f"      packageName={task.package} processName={task.package}",
            f"      launchedFromUid={phone.processes.uid_of(page.calling_package or '')} "
            f"launchedFromPackage={page.calling_package or 'null'}",
            f"      app=ProcessRecord{{{page.token + 2:x} {_record(phone, task.package)}}}",
            f"      Intent {{ act=android.intent.action.MAIN flg=0x10000000 "
            f"cmp={shorten(task.package + '/' + page.activity)} }}",
            f"      rootOfTask={str(number == 0).lower()} task={name}",
            f"      mActivityComponent={shorten(task.package + '/' + page.activity)}",
            f"      state={'RESUMED' if on_top else 'STOPPED'} stopped={str(not on_top).lower()} "
            "delayedResume=false finishing=false",
            f"      mVisibleRequested={str(on_top).lower()} visible={str(on_top).lower()} "
            f"nowVisible={str(on_top).lower()}",
        ]
    return rows


def dump_top(phone: Phone) -> str:
    """Return `dumpsys activity top`: the activity in front comes last."""
    rows: list[str] = []
    for task in reversed(phone.tasks.front_to_back()):
        page = task.pages[-1]
        component = shorten(f"{task.package}/{page.activity}")
        rows += [
            f"TASK {task.package} id={task.id} userId=0 displayId={task.display}(type=INTERNAL)",
            f"  ACTIVITY {component} {page.token + 1:x} pid={_pid(phone, task.package)} userId=0 "
            f"uid={phone.processes.uid_of(task.package)}",
            f"    Local FragmentActivity {page.token + 9:x} State:",
            "      mResumed=true mStopped=false mFinished=false",
        ]
    return "\n".join(rows)


def dump_display(phone: Phone) -> str:
    """Return `dumpsys display`."""
    on = "ON" if phone.power.screen_on else "OFF"
    viewports: list[str] = []
    details: list[str] = []
    for entry in phone.displays.all():
        width, height, density = phone.displays.size(entry.id)
        rotation = phone.rotation.quarters if entry.id == 0 else 0
        kind = "INTERNAL" if entry.id == 0 else "VIRTUAL"
        viewports.append(
            f"DisplayViewport{{type={kind}, valid=true, isActive=true, displayId={entry.id}, "
            f"uniqueId='local:{4619827259835644672 + entry.id}', physicalPort={entry.id}, "
            f"orientation={rotation}, logicalFrame=Rect(0, 0 - {width}, {height}), "
            f"physicalFrame=Rect(0, 0 - {width}, {height}), deviceWidth={width}, "
            f"deviceHeight={height}}}"
        )
        details += [
            f"  Display {entry.id}:",
            f"    mDisplayId={entry.id}",
            f"    mPrimaryDisplayDevice={entry.name}",
            f'    mBaseDisplayInfo=DisplayInfo{{"{entry.name}", displayId {entry.id}, real '
            f"{entry.width} x {entry.height}, "
            f"largest app {entry.height} x {entry.height}, "
            f"smallest app {entry.width} x {entry.width}, appVsyncOff 1000000, "
            f"presDeadline 16666666, mode 1, 60.000004 fps, rotation {rotation}, "
            f"density {density} ({density}.0 x {density}.0) dpi, state {on}, type {kind}}}",
        ]
    return "\n".join(
        [
            "DISPLAY MANAGER (dumpsys display)",
            "  mSafeMode=false",
            "  mPendingTraversal=false",
            f"  mGlobalDisplayState={on}",
            f"  mViewports=[{', '.join(viewports)}]",
            "",
            f"Display States: size={len(phone.displays.all())}",
            "  Display Id=0",
            f"  Display State={on}",
            "",
            f"Logical Displays: size={len(phone.displays.all())}",
            *details,
            "",
            "Display Power Controller:",
            f"  mScreenState={on}",
        ]
    )


def dump_input(phone: Phone) -> str:
    """Return `dumpsys input`."""
    width, height = phone.displays.width, phone.displays.height
    focus = phone.windows.focused
    return "\n".join(
        [
            "INPUT MANAGER (dumpsys input)",
            "",
            "Event Hub State:",
            "  Devices:",
            "    2: virtual_touchscreen",
            "      Classes: KEYBOARD | TOUCH | TOUCH_MT",
            "      Path: /dev/input/event1",
            "",
            "Input Reader State:",
            "  Device 2: virtual_touchscreen",
            "    Touch Input Mapper (mode - DIRECT):",
            f"      SurfaceWidth: {width}px",
            f"      SurfaceHeight: {height}px",
            f"      SurfaceOrientation: {phone.rotation.quarters}",
            "",
            "Input Dispatcher State:",
            "  FocusedApplications:",
            f"    displayId=0, name='{phone.windows.focused_app}', dispatchingTimeout=5000ms",
            "  FocusedWindows:",
            f"    displayId=0, name='{focus.token_hex + ' ' + focus.title if focus else ''}'",
        ]
    )
