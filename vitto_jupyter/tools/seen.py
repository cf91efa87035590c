"""What the model has seen: revisions and texts of files and cells, and the order of cells.

One per session, kept from turn to turn; imported by tools and services.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any

from ..workspace.base import Revision

LIMIT_CHARS = 2_000_000
LIMIT_KEYS = 50_000
LIMIT_NOTEBOOKS = 500


def cell_key(path: str, cell_id: str) -> str:
    return f"{path}#{cell_id}"


class Seen(MutableMapping[str, Revision]):
    """Revisions by key: `path` for a file, `path#cell_id` for a cell; the latest seen last.

    Beside them the texts that were seen, as many as fit into LIMIT_CHARS (the oldest go first,
    their revisions stay), and per notebook the ids of its cells in their order. `versions` is
    what told cheaply, when last looked at, that a file holds what was seen. `edition` counts
    changes. `mask` takes out of texts what no model may see and no file may keep.
    """

    def __init__(self) -> None:
        self._revisions: dict[str, Revision] = {}
        self._texts: dict[str, str] = {}
        self._chars = 0
        self._orders: dict[str, tuple[str, ...]] = {}
        self.versions: dict[str, tuple[str, int | None] | None] = {}
        self.edition = 0
        self.mask: Callable[[str], str] = str

    def __getitem__(self, key: str) -> Revision:
        return self._revisions[key]

    def __setitem__(self, key: str, revision: Revision) -> None:
        """Seen, but its text is not to be kept."""
        self.edition += 1
        self._drop_text(key)
        self._revisions.pop(key, None)
        self._revisions[key] = revision
        while len(self._revisions) > LIMIT_KEYS:
            del self[next(iter(self._revisions))]

    def __delitem__(self, key: str) -> None:
        self.edition += 1
        del self._revisions[key]
        self._drop_text(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._revisions)

    def __len__(self) -> int:
        return len(self._revisions)

    def note(self, key: str, revision: Revision, text: str) -> None:
        """`text` was seen at `revision`."""
        self[key] = revision
        if len(text) > LIMIT_CHARS:
            return
        text = self.mask(text)
        self._texts[key] = text
        self._chars += len(text)
        while self._chars > LIMIT_CHARS:
            self._drop_text(next(iter(self._texts)))

    def text(self, key: str) -> str | None:
        """The text that was seen, None when it is not known any more."""
        return self._texts.get(key)

    # -- notebooks -------------------------------------------------------------------------------

    def note_order(self, path: str, cell_ids: Sequence[str]) -> None:
        """The model has seen which cells there are, if not all of their text."""
        self.edition += 1
        self._orders.pop(path, None)
        self._orders[path] = tuple(cell_ids)
        while len(self._orders) > LIMIT_NOTEBOOKS:
            del self._orders[next(iter(self._orders))]

    def order(self, path: str) -> tuple[str, ...]:
        """The ids of the notebook's cells as last seen; () when it was not."""
        return self._orders.get(path, ())

    def forget_notebook(self, path: str) -> None:
        for cell_id in self._orders.pop(path, ()):
            self.pop(cell_key(path, cell_id), None)

    def documents(self) -> tuple[str, ...]:
        """The paths of all files and notebooks, the latest seen first."""
        files = [key for key in self._revisions if ".ipynb#" not in key]
        return (*reversed(self._orders), *reversed(files))

    # -- on disk ---------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """A copy that may be written in a thread."""
        return {
            "revisions": dict(self._revisions),
            "texts": dict(self._texts),
            "orders": dict(self._orders),
        }

    @classmethod
    def from_json(cls, value: Any) -> Seen:
        """What `to_json` gave.

        Raises:
            ValueError: it is something else.
        """
        if not isinstance(value, dict):
            raise ValueError("no object")
        seen = cls()
        texts, orders = _strings(value.get("texts")), value.get("orders")
        for key, revision in _strings(value.get("revisions")).items():
            if key in texts:
                seen.note(key, Revision(revision), texts[key])
            else:
                seen[key] = Revision(revision)
        if not isinstance(orders, dict):
            raise ValueError("no orders")
        seen._orders = {path: _ids(ids) for path, ids in orders.items()}
        return seen

    def _drop_text(self, key: str) -> None:
        self._chars -= len(self._texts.pop(key, ""))


def _strings(value: Any) -> Mapping[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ValueError("no texts by name")
    return value


def _ids(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(cell_id, str) for cell_id in value):
        raise ValueError("no list of ids")
    return tuple(value)
