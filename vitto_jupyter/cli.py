"""The command line: `vitto lab [PATH]` and `vitto doctor`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from . import __version__

EXAMPLE = "try-vitto.ipynb"
DEMO_FOLDER = "vitto-demo"


@dataclass(frozen=True, slots=True)
class Place:
    """Where JupyterLab starts: the contents root, and a document in it, "" for none."""

    root: Path
    document: str = ""

    @property
    def url(self) -> str:
        return f"/lab/tree/{quote(self.document)}" if self.document else "/lab"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    known, rest = _parser().parse_known_args(argv)
    if known.command == "doctor":
        from .doctor import examine

        return examine(sys.stdout)
    try:
        place = place_of(known.path, Path.cwd())
    except OSError as err:
        sys.stderr.write(f"vitto: {err.strerror}: {err.filename}\n")
        return 2
    if known.path is None and (missing := missing_for_example()):
        sys.stderr.write(f"The example needs more: pip install {' '.join(missing)}\n")
    return start_lab(place, rest)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vitto", description="Vitto, an agent that works inside Jupyter."
    )
    parser.add_argument("--version", action="version", version=f"vitto {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    lab = commands.add_parser(
        "lab",
        help="start JupyterLab with Vitto open",
        description="Start JupyterLab with Vitto open. Other options go to JupyterLab.",
    )
    lab.add_argument(
        "path",
        nargs="?",
        help=f"a folder or notebook to work on; without one, an example in ./{DEMO_FOLDER}",
    )
    commands.add_parser("doctor", help="say what is there and what is missing")
    return parser


def place_of(path: str | None, folder: Path) -> Place:
    """Where to start. Without `path`, a fresh example is put into `folder`.

    Raises:
        FileNotFoundError: there is nothing at `path`.
    """
    if path is None:
        return _example_in(folder / DEMO_FOLDER)
    target = (folder / path).expanduser().resolve(strict=True)
    return Place(target) if target.is_dir() else Place(target.parent, target.name)


def _example_in(folder: Path) -> Place:
    """A fresh copy of the example; one that was worked on is left alone."""
    folder.mkdir(exist_ok=True)
    content = files(__package__).joinpath("examples", EXAMPLE).read_bytes()
    stem, suffix = EXAMPLE.rsplit(".", 1)
    number = 1
    copy = folder / EXAMPLE
    while copy.exists() and copy.read_bytes() != content:
        number += 1
        copy = folder / f"{stem}-{number}.{suffix}"
    copy.write_bytes(content)
    return Place(folder.resolve(), copy.name)


def missing_for_example() -> list[str]:
    """The packages of the `demo` extra that this Python lacks."""
    return [name for name in ("pandas", "matplotlib") if find_spec(name) is None]


def lab_arguments(place: Place, rest: Sequence[str]) -> list[str]:
    """Arguments for JupyterLab; the user's own come last and win."""
    return [
        f"--ServerApp.root_dir={place.root}",
        f"--LabApp.default_url={place.url}",
        "--VittoApp.open_sidebar=True",
        *rest,
    ]


def start_lab(place: Place, rest: Sequence[str]) -> int:
    """Run JupyterLab here until it is stopped."""
    from jupyterlab.labapp import LabApp

    LabApp.launch_instance(argv=lab_arguments(place, rest))
    return 0


if __name__ == "__main__":
    sys.exit(main())
