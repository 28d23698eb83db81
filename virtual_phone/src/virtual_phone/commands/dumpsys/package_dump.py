"""`dumpsys package PKG`, in the shape of Android 14."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from virtual_phone.commands.intents import shorten
from virtual_phone.commands.packages.listing import apk_path
from virtual_phone.commands.packages.users import packages_of
from virtual_phone.packages.signing import signature_hash

if TYPE_CHECKING:
    from virtual_phone.packages.installed import PackageInfo
    from virtual_phone.phone import Phone


def dump_package(phone: Phone, package: str) -> str:
    info = phone.packages.get(package) or _of_others(phone, package)
    if info is None:
        return f"Dexopt state:\n  Unable to find package: {package}"
    return "\n".join([*_resolver(info), *_body(phone, info)])


def _of_others(phone: Phone, package: str) -> PackageInfo | None:
    """Return a package that only another user has."""
    for user in phone.form_factor.profile.users:
        if package in user.packages:
            return next(one for one in packages_of(phone, user) if one.package == package)
    return None


def _others(phone: Phone, info: PackageInfo) -> list[str]:
    """Return the lines of every user but the owner."""
    rows: list[str] = []
    for user in phone.form_factor.profile.users[1:]:
        there = info.system or info.package in user.packages
        rows += [
            f"    User {user.id}: ceDataInode=0 installed={str(there).lower()} hidden=false "
            "suspended=false distractionFlags=0 stopped=false notLaunched=false enabled=0 "
            "instant=false virtual=false"
        ]
    return rows


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:7]


def _resolver(info: PackageInfo) -> list[str]:
    rows = ["Activity Resolver Table:"]
    if info.launcher_activity is not None:
        component = shorten(f"{info.package}/{info.launcher_activity}")
        rows += [
            "  Non-Data Actions:",
            "      android.intent.action.MAIN:",
            f"        {_hash(component)} {component} filter {_hash(component + 'f')}",
            '          Action: "android.intent.action.MAIN"',
            '          Category: "android.intent.category.LAUNCHER"',
        ]
    return [*rows, ""]


def _body(phone: Phone, info: PackageInfo) -> list[str]:
    flags = "SYSTEM HAS_CODE ALLOW_CLEAR_USER_DATA" if info.system else "HAS_CODE ALLOW_BACKUP"
    granted = phone.state_record.granted.get(info.package, [])
    owned = str(info.package in phone.packages).lower()
    path = apk_path(info).rpartition("/")[0]
    return [
        "Packages:",
        f"  Package [{info.package}] ({_hash(info.package)}):",
        f"    appId={info.uid}",
        f"    pkg=Package{{{_hash(info.package + 'p')} {info.package}}}",
        f"    codePath={path}",
        f"    resourcePath={path}",
        "    primaryCpuAbi=null",
        f"    versionCode={info.version_code} minSdk=28 targetSdk={phone.form_factor.android.sdk}",
        f"    versionName={info.version_name}",
        f"    flags=[ {flags} ]",
        f"    pkgFlags=[ {flags} ]",
        f"    dataDir=/data/user/0/{info.package}",
        "    timeStamp=2023-10-05 08:12:31",
        "    lastUpdateTime=2023-10-05 08:12:31",
        f"    signatures=PackageSignatures{{{_hash(info.package + 's')} version:3, "
        f"signatures:[{signature_hash(info.signed_by)}], past signatures:[]}}",
        "    installerPackageName=null",
        "    requested permissions:",
        *(f"      {name}" for name in info.permissions),
        "    install permissions:",
        f"    User 0: ceDataInode=0 installed={owned} hidden=false suspended=false "
        "distractionFlags=0 stopped=false notLaunched=false enabled=0 instant=false virtual=false",
        f"      dataDir=/data/user/0/{info.package}",
        "      firstInstallTime=2023-10-05 08:12:31",
        "      runtime permissions:",
        *(
            f"        {name}: granted={str(name in granted).lower()}, "
            "flags=[ USER_SENSITIVE_WHEN_GRANTED]"
            for name in dict.fromkeys([*info.permissions, *granted])
        ),
        *_others(phone, info),
    ]
