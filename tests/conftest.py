"""Fixtures and options shared by all tests."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bench", action="store_true", help="run the measurements in tests/bench")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--bench"):
        return
    for item in items:
        if "bench" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="a measurement; run with --bench"))
