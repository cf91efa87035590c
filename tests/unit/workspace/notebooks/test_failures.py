import time

import pytest

from vitto_jupyter.workspace.notebooks.failures import failures


@pytest.mark.parametrize(
    ("what", "text"),
    [
        (
            "pip install failed",
            "Collecting nope\nERROR: Could not find a version that satisfies the requirement nope\n"
            "ERROR: No matching distribution found for nope\n",
        ),
        ("pip install failed", "  error: subprocess-exited-with-error\n"),
        ("pip install failed", "error: externally-managed-environment\n"),
        ("pip install failed", "ERROR: Failed building wheel for pyarrow\n"),
        ("pip install failed", "ERROR: Cannot install a==1 and b==2 because of conflicts\n"),
        ("uv install failed", "  × No solution found when resolving dependencies:\n"),
        ("conda install failed", "PackagesNotFoundError: The following packages are missing\n"),
        ("system install failed", "E: Unable to locate package nope\n"),
        ("npm failed", "npm ERR! code E404\n"),
        ("command not found", "/bin/bash: line 1: nope: command not found\n"),
        ("command not found", "sh: 1: nope: not found\n"),
        ("command not found", "zsh:1: command not found: nope\n"),
        ("command not found", "UsageError: Line magic function `%nope` not found.\n"),
        ("out of memory", "torch: CUDA out of memory. Tried to allocate 2 GiB\n"),
        ("out of memory", "OSError: [Errno 12] Cannot allocate memory\n"),
        ("crash", "Segmentation fault (core dumped)\n"),
        ("crash", "Killed\n"),
        ("crash", "/bin/bash: line 1:   321 Killed\n"),
        ("no space left", "cp: error writing 'x': No space left on device\n"),
        ("file missing or not allowed", "ls: cannot access 'x': No such file or directory\n"),
        ("file missing or not allowed", "python: can't open file 'x.py': [Errno 2] No such file\n"),
        ("file missing or not allowed", "bash: ./run.sh: Permission denied\n"),
        ("network failure", "curl: (6) Could not resolve host: nope.example\n"),
        ("command failed", "Command '['make']' returned non-zero exit status 2.\n"),
        ("command failed", "Process exited with code 3\n"),
        ("command failed", "make: *** [Makefile:2: all] Error 1\n"),
        ("command failed", "fatal: not a git repository\n"),
        ("tests failed", "FAILED tests/test_a.py::test_b - assert 0\n"),
        ("tests failed", "===== 2 failed, 3 passed in 0.12s =====\n"),
        ("traceback printed", "Traceback (most recent call last):\n  File x\n"),
        ("error printed", "ERROR:root:the job was not done\n"),
        ("error printed", "ERROR: no such table\n"),
        ("error printed", "ValueError: bad value\n"),
        ("error printed", "Error in eval(expr): object 'x' not found\n"),
    ],
)
def test_known_failures_are_found(what, text):
    found = failures(f"before\n{text}after\n")
    assert found and found[0].startswith(f"{what} without an exception: ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0 errors, 3 warnings",
        "No errors found.",
        "Mean squared error: 0.31",
        "Standard Error: 0.05",
        "Error: 0.023",
        "RMSError: 1.2e-3",
        "TestError: nan",
        "error rate    0.2",
        "ERROR RATE: 3 %",
        "epoch 3: train_error=0.2 val_error=0.3",
        "ValueError, KeyError and TypeError are caught here.",
        "What to do when a command not found message appears",
        "failed: 0",
        "=== 12 passed in 0.4s ===",
        "=== 3 passed, 0 failed ===",
        "Successfully installed nope-1.0",
        "Note: you may need to restart the kernel to use updated packages.",
        "WARNING: Running pip as the 'root' user can result in broken permissions",
        "DeprecationWarning: the old name goes away",
        "exit code: 0",
        "Process finished with exit code 0",
        "the process was killed by the scheduler, as planned",
        "Skilled workers: 12",
        "memory usage: 1.2+ MB",
        "found 3 files",
        "<class 'pandas.core.frame.DataFrame'>",
        "connection established",
        "make: Nothing to be done for 'all'.",
        "E: 0.5",
    ],
)
def test_innocent_lines_are_not_flagged(text):
    assert failures(text) == []


def test_the_last_line_of_a_kind_is_quoted_and_each_kind_once():
    text = "ERROR: Could not find a version\nERROR: No matching distribution found for x\nKilled\n"
    assert failures(text) == [
        "pip install failed without an exception: ERROR: No matching distribution found for x",
        "crash without an exception: Killed",
    ]


def test_long_and_hostile_lines_take_no_time():
    began = time.monotonic()
    for piece in ("ERROR ", "Error", "exit", " ", "_", "=", "FAILED", "× ", "a: "):
        failures(piece * (1_000_000 // len(piece)))
        failures((piece * 500 + "\n") * 300)
    assert time.monotonic() - began < 30
