"""Packages and megabytes that Vitto adds over JupyterLab alone, read from what is installed."""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest

pytestmark = pytest.mark.bench


def closure(name: str) -> dict[str, Distribution]:
    """The distribution and all it requires here, by normalised name; extras left out."""
    found: dict[str, Distribution] = {}
    waiting = [name]
    while waiting:
        current = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if current in found:
            continue
        try:
            found[current] = distribution(current)
        except PackageNotFoundError:  # for another platform or Python
            continue
        for requirement in found[current].requires or []:
            if "extra ==" not in requirement:
                waiting.append(re.split(r"[ ;<>=!~\[(]", requirement, maxsplit=1)[0])
    return found


def megabytes(package: Distribution) -> float:
    files = (Path(str(file.locate())) for file in package.files or [])
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def test_packages_and_megabytes_over_jupyterlab(capsys: pytest.CaptureFixture[str]) -> None:
    floor, ours = closure("jupyterlab"), closure("vitto-jupyter")
    added = {name: megabytes(ours[name]) for name in ours if name not in floor}
    with capsys.disabled():
        print(f"\nJupyterLab: {len(floor)} packages, {sum(map(megabytes, floor.values())):.0f} MB")
        print(f"added: {len(added)} packages (aim <= 30), {sum(added.values()):.1f} MB (aim <= 70)")
        for name, size in sorted(added.items(), key=lambda item: -item[1]):
            print(f"  {size:7.2f} MB  {name}")
    assert "vitto-jupyter" in added
