"""Peak memory and time of reading and editing the big notebooks, each step in a fresh process.

Seconds are of the processor, which other work on the machine disturbs less; peak memory is that
of the whole process, the interpreter's own (first line) included.

pytest --bench tests/bench/test_notebook_parser.py -s      (Linux)
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from big_notebooks import hundred_megabytes, ten_thousand_cells

pytestmark = pytest.mark.bench

NOTEBOOKS: dict[str, Callable[[], bytes]] = {
    "10,000 cells": ten_thousand_cells,
    "100 MB": hundred_megabytes,
}
STEPS = {
    "nothing": "",
    "bytes": "content = open(path, 'rb').read()",
    "json.loads": "import json; json.loads(open(path, 'rb').read())",
    "parse": "file = parse(open(path, 'rb').read(), name='n')",
    "parse and view": "viewed(parse(open(path, 'rb').read(), name='n'), path='n', given={})",
    "edit": "changed(open(path, 'rb').read(), change(path), path='n', given={})",
}
CHILD = """
import gc, json, sys, time
from vitto_jupyter.workspace.base import DeleteCell, revision_of
from vitto_jupyter.workspace.notebooks.notebook_json import parse
from vitto_jupyter.workspace.notebooks.notebook_work import Change, changed, viewed
from vitto_jupyter.workspace.notebooks.output_fold import Folded

def change(path):
    # the source of the cell "cell-00005" of both notebooks
    source = "## Step 5\\n\\nWhat comes next, and why \u2013 in a line or two."
    return Change([DeleteCell("cell-00005", revision_of("markdown\\n" + source))], Folded({}, ()))

gc.disable()
path = sys.argv[1]
start = time.process_time()
exec(sys.argv[2])
seconds = time.process_time() - start
# not ru_maxrss: it counts the process that this one was forked from
(peak,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(json.dumps([seconds, int(peak.split()[1]) / 1024]))
"""


def measured(path: Path, step: str) -> tuple[float, float]:
    """Seconds, and MiB at the peak."""
    command = [sys.executable, "-c", CHILD, str(path), step]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    seconds, mib = json.loads(done.stdout)
    return seconds, mib


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_memory_and_time_of_the_parser(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "n.ipynb"
    path.write_bytes(NOTEBOOKS[name]())
    mb = path.stat().st_size / 1e6
    rows = [f"{name} ({mb:.1f} MB)", f"{'':16} {'CPU s':>7} {'peak MiB':>9} {'per MB':>7}"]
    floor = 0.0
    for step, code in STEPS.items():
        seconds, mib = measured(path, code)
        floor = floor or mib
        rows.append(f"{step:16} {seconds:7.2f} {mib:9.0f} {(mib - floor) / mb:7.2f}")
    with capsys.disabled():
        print("\n".join(["", *rows]))
