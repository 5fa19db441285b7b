# SPDX-License-Identifier: MIT
"""The coordinator's view of the group, as GroupWatch prints it."""

import time

from .services import read_journal


class Group:
    def __init__(self, watch_file, members):
        self.watch_file = watch_file
        self.members = members

    def views(self):
        return [line for line in read_journal(self.watch_file) if "state" in line]

    def late(self):
        """Questions that the coordinator took long to answer."""
        return [line for line in read_journal(self.watch_file) if line.get("what") == "late"]

    def is_whole(self):
        views = self.views()
        return bool(views) and views[-1]["state"] == "Stable" and len(views[-1]["members"]) == self.members

    def wait_whole(self, steady=3.0, limit=100.0):
        """Waits until all members have been in a stable group for some seconds without a break."""
        deadline = time.monotonic() + limit
        since = None
        while since is None or time.monotonic() - since < steady:
            if time.monotonic() > deadline:
                raise RuntimeError("the group did not become whole")
            if not self.is_whole():
                since = None
            elif since is None:
                since = time.monotonic()
            time.sleep(0.2)
