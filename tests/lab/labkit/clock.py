# SPDX-License-Identifier: MIT
"""Times as the lab writes them: RFC 3339, UTC, microseconds."""

from datetime import datetime, timezone


def now():
    return text(datetime.now(timezone.utc))


def text(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse(written):
    """Reads what Java's Instant prints (0, 3, 6 or 9 digits of fraction)."""
    whole, _, fraction = written.rstrip("Z").partition(".")
    moment = datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return moment.replace(microsecond=int((fraction + "000000")[:6]))


def normal(written):
    return text(parse(written))
