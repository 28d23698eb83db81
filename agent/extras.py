"""Libraries that only an extra of the package brings, and what is said where one is missing.

Invariant: none of them is imported to find out whether it is there.
"""

import importlib.util
from functools import cache
from typing import NamedTuple


class Extra(NamedTuple):
    """One extra: the library that tells whether it is there, and what it is for."""

    library: str
    purpose: str


EXTRAS = {
    "anthropic": Extra("anthropic", "models on Anthropic's own wire"),
    "apprise": Extra("apprise", "notices by the services that Apprise knows"),
    "datasets": Extra("pyarrow", "sessions as Parquet"),
    "demo": Extra("virtual_phone", "virtual phones"),
    "eval": Extra("inspect_ai", "runs as logs of Inspect"),
    "fleet": Extra("psycopg", "the store of a fleet, on PostgreSQL"),
    "gym": Extra("gymnasium", "phones as a Gymnasium environment"),
    "http": Extra("sse_starlette", "serving the ops over HTTP"),
    "mcp": Extra("mcp", "serving phones to MCP clients"),
    "ocr": Extra("rapidocr", "text that only a picture shows"),
    "openenv": Extra("openenv", "serving phones to OpenEnv's clients"),
    "otel": Extra("prometheus_client", "metrics and traces for monitoring"),
    "s3": Extra("s3fs", "pictures of a fleet in a bucket of S3's"),
    "textproto": Extra("google.protobuf", "tasks of android_env"),
    "uiautomator2": Extra("uiautomator2", "UI trees of real phones in milliseconds"),
    "video": Extra("av", "live video, recordings and films"),
    "web": Extra("textual_serve", "the console in a browser"),
}
"""By the name that pip is told."""


@cache
def is_installed(extra: str) -> bool:
    try:
        found = importlib.util.find_spec(EXTRAS[extra].library)
    except ModuleNotFoundError:
        # A part of a package that is not there either.
        return False
    # A folder of that name, as in a checkout, is found as well and has no origin.
    return found is not None and found.origin is not None


def missing(extra: str) -> str:
    """Return the sentence that says an extra is not installed."""
    return f"The extra {extra!r} is not installed; it is for {EXTRAS[extra].purpose}."


def install(extra: str) -> str:
    return f"Install it: pip install 'switchboard-console[{extra}]'."
