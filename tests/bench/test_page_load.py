"""What having Vitto installed costs a page load, beside the same server without it."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest
from lab import CHROMIUM_ARGS, Lab, chromium_path, notebook

pytestmark = pytest.mark.bench
RUNS = 9

READY = """async () => {
  while (!window.jupyterapp) await new Promise(r => setTimeout(r, 5));
  await jupyterapp.started;
  await jupyterapp.restored;
  const scripts = performance.getEntriesByType('resource')
    .filter(e => e.name.includes('.js'));
  return {
    ms: performance.now(),
    script_kb: scripts.reduce((sum, e) => sum + e.encodedBodySize, 0) / 1000,
    requests: performance.getEntriesByType('resource').length,
  };
}"""


def test_page_load_with_and_without_vitto(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    from playwright.sync_api import sync_playwright

    rows: dict[str, list[dict[str, float]]] = {"without": [], "with": []}
    with (
        Lab(tmp_path / "without", with_vitto=False) as bare,
        Lab(tmp_path / "with") as ours,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGS)
        for lab in (bare, ours):
            (lab.root / "a.ipynb").write_text(json.dumps(notebook("1 + 1")))
        for run in range(RUNS + 1):
            for name, lab in (("without", bare), ("with", ours)):
                context = browser.new_context()
                page = context.new_page()
                page.goto(lab.lab_url("a.ipynb"))
                row = page.evaluate(READY)
                context.close()
                if run:  # the first one warms the server's caches
                    rows[name].append(row)
        browser.close()
    median = {
        name: {key: statistics.median(row[key] for row in found) for key in found[0]}
        for name, found in rows.items()
    }
    ratio = median["with"]["ms"] / median["without"]["ms"]
    added_kb = median["with"]["script_kb"] - median["without"]["script_kb"]
    with capsys.disabled():
        print(f"\npage load, median of {RUNS}: {median}")
        print(f"ratio {ratio:.3f} (aim <= 1.05); scripts added {added_kb:.0f} kB (aim <= 500)")
    assert ratio > 0
