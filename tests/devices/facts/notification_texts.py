"""Dumps of `dumpsys notification` as Android prints them, for what a test posts.

The shape is that of NotificationManagerService.dumpImpl, NotificationRecord.toString and .dump
(services/core/java/com/android/server/notification, android10-release to android-16): the list is
indented by two, records by four, what belongs to them by six, the notification by twelve, its
extras by sixteen. Makers differ by version of the header, which is a parameter here.
"""

from dataclasses import dataclass, field
from enum import Enum

HEADING = "Current Notification Manager state:\n"
AFTER = """\
  mUseAttentionLight=true
  mHasLight=false
  mNotificationPulseEnabled=true
  mArchive=Archive (1 notification)
    StatusBarNotification(pkg=com.gone user=UserHandle{0} id=4 tag=null \
key=0|com.gone|4|null|10077: Notification(channel=gone shortcut=null flags=0x10 vis=PRIVATE))
"""


class Header(Enum):
    """How a version or a maker prints the first line of a record, `{key}` and `{flags}` left."""

    ANDROID_10 = "key={key}appImportanceLocked=false: Notification(channel=c pri=0 {rest})"
    ANDROID_12 = "key={key}: Notification(channel=c shortcut=null {rest})"
    HYPEROS_2 = "key={key} bbbc=0: Notification(channel=c shortcut=null {rest} focusType=PARAMS)"
    TWO_WORDS = "key={key} isAppLocked=false mood=fine: Notification(channel=c {rest})"


@dataclass(frozen=True, slots=True)
class Post:
    """One notification that an app posted."""

    package: str = "com.chat"
    number: int = 1
    tag: str = "null"
    title: str = "Ana"
    text: str = "Hello"
    user: int = 0
    uid: int = 10123
    flags: int | str = 0x8
    override: str = ""
    extras: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        plain = f"{self.user}|{self.package}|{self.number}|{self.tag}|{self.uid}"
        return f"{plain}|{self.override}" if self.override else plain


def record(post: Post, header: Header = Header.ANDROID_12, *, noredact: bool = True) -> str:
    """Print one record of the list."""
    flags = post.flags if isinstance(post.flags, str) else hex(post.flags)
    rest = f"contentView=null flags={flags} color=0x00000000 category=msg vis=PRIVATE"
    first = header.value.format(key=post.key, rest=rest)

    def text(value: str) -> str:
        return f"String ({value})" if noredact else f"String [length={len(value)}]"

    extras = {"android.title": text(post.title), "android.subText": "null"}
    extras |= {"android.showWhen": "Boolean (true)", "android.text": text(post.text), **post.extras}
    lines = [
        f"    NotificationRecord(0x0313c955: pkg={post.package} user=UserHandle{{{post.user}}} "
        f"id={post.number} tag={post.tag} importance=4 {first})",
        f"      uid={post.uid} userId={post.user}",
        f"      opPkg={post.package}",
        "      icon=Icon(typ=RESOURCE pkg=com.chat id=0x7f080123)",
        f"      flags={flags}",
        "      pri=0",
        f"      key={post.key}",
        "      seen=true",
        f"      groupKey={post.user}|{post.package}|g:all",
        "      notification=",
        "            fullscreenIntent=null",
        f"            tickerText={post.title}",
        "            contentView=null",
        "            color=0x00000000",
        "            actions={",
        f'                [0] "Reply to {post.title}" -> PendingIntent{{6f1d2b}}',
        "              }",
        "            extras={",
        *(f"                {name}={value}" for name, value in extras.items()),
        "            }",
        "      publicNotification=",
        "            extras={",
        "                android.title=String (Hidden on the lock screen)",
        "            }",
        "      stats=SingleNotificationStats{posttimeElapsedMs=1}",
        "      effectiveNotificationChannel=NotificationChannel{mId='c', mName=Chats (all)}",
    ]
    return "".join(f"{line}\n" for line in lines)


def dump(*records: str, more: str = "") -> str:
    """Print the whole answer of `dumpsys notification --noredact`."""
    listed = f"  Notification List:\n{''.join(records)}" if records else ""
    return f"{HEADING}{listed}{AFTER}{more}"


def listing(*posts: Post) -> str:
    """Print what `cmd notification list` does since Android 11, after the mark."""
    return "MARK\n" + "".join(f"{post.key}\n" for post in posts)
