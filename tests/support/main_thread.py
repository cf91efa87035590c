"""CPU time of a page's main thread, task by task, for measurements.

Frames that come late may be the fault of other programs; the CPU time of a task is not.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from playwright.sync_api import Page

TASK = "ThreadControllerImpl::RunTask"
CHUNK_BYTES = 1 << 20


class MainThread:
    def __init__(self, page: Page) -> None:
        self._page = page
        self._cdp = page.context.new_cdp_session(page)
        self._complete: list[dict[str, Any]] = []
        self._cdp.on("Tracing.tracingComplete", lambda event: self._complete.append(event))

    def start(self) -> None:
        config = {"includedCategories": ["toplevel"], "excludedCategories": ["*"]}
        self._cdp.send("Tracing.start", {"traceConfig": config, "transferMode": "ReturnAsStream"})

    def stop(self) -> list[float]:
        """CPU milliseconds of each task since `start`, of the busiest main thread."""
        self._complete.clear()
        self._cdp.send("Tracing.end")
        while not self._complete:
            self._page.wait_for_timeout(20)
        events = json.loads(self._read(self._complete[0]["stream"]))["traceEvents"]
        names = {
            (event["pid"], event["tid"]): event["args"]["name"]
            for event in events
            if event["name"] == "thread_name"
        }
        tasks: dict[tuple[int, int], list[float]] = defaultdict(list)
        for event in events:
            thread = (event["pid"], event["tid"])
            if event["name"] == TASK and names.get(thread) == "CrRendererMain":
                tasks[thread].append(event.get("tdur", 0) / 1000)
        return max(tasks.values(), key=sum, default=[])

    def _read(self, handle: str) -> str:
        parts: list[str] = []
        while True:
            part = self._cdp.send("IO.read", {"handle": handle, "size": CHUNK_BYTES})
            parts.append(part["data"])
            if part["eof"]:
                return "".join(parts)
