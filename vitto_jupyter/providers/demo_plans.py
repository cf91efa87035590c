"""What the demo says and calls, as a function of the conversation. Pure.

A plan is a generator: it yields a reply, gets the results of the reply's calls and goes on. To
find the next reply, the plan is run from its start over the results that the conversation
already holds; so nothing is kept between requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from ..protocol.base import JsonObject
from .base import Message
from .demo_fixes import find_fix, frame_names, unique_span

LABEL = "*Demo, not a language model: this is a fixed plan over the real tools.*\n\n"
_SETUP = "To talk to Claude, set `ANTHROPIC_API_KEY` and start JupyterLab again."
_MAX_CELLS = 40


@dataclass(frozen=True, slots=True)
class Reply:
    """Text, and the calls (name, input) to make; without calls the turn ends."""

    text: str
    calls: tuple[tuple[str, JsonObject], ...] = ()


@dataclass(frozen=True, slots=True)
class CallResult:
    text: str
    failed: bool


@dataclass(frozen=True, slots=True)
class DemoTurn:
    """The last prompt, the notebook it is about ("" when none), and the results since."""

    prompt: str
    path: str
    results: tuple[tuple[CallResult, ...], ...]


@dataclass(frozen=True, slots=True)
class SeenCell:
    """A cell as read_notebook shows it."""

    label: str
    cell_id: str
    cell_type: str
    source: str
    output: str


Plan = Generator[Reply, tuple[CallResult, ...], None]


def reply_to(turn: DemoTurn) -> Reply:
    """The next reply of the plan that fits the prompt."""
    plan = _plan(turn)
    reply = next(plan)
    for results in turn.results:
        try:
            reply = plan.send(results)
        except StopIteration:
            return Reply("That is all this plan does.")
    return reply


def read_turn(messages: Sequence[Message]) -> DemoTurn:
    """The last prompt of a conversation and the results of the calls after it."""
    prompt, path = "", ""
    results: list[tuple[CallResult, ...]] = []
    for message in messages:
        if message.role != "user":
            continue
        answers = tuple(
            _call_result(block) for block in message.content if block.get("type") == "tool_result"
        )
        if answers:
            results.append(answers)
            continue
        texts = [str(block["text"]) for block in message.content if block.get("type") == "text"]
        prompt, path, results = (texts[-1] if texts else ""), _path_in(texts[:-1]), []
    return DemoTurn(prompt, path, tuple(results))


def read_cells(view: str) -> tuple[SeenCell, ...]:
    """The cells in the text of read_notebook."""
    head = re.compile(r"^--- cell (\d+) \(id (.+?)\) (code|markdown|raw)(?: \[\d+\])?$", re.M)
    starts = list(head.finditer(view))
    cells = []
    for number, match in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(view)
        source, _, output = view[match.end() + 1 : end].rstrip("\n").partition("\n--- output")
        cells.append(SeenCell(match[1], match[2], match[3], source, output.lstrip("\n")))
    return tuple(cells)


# -- plans ---------------------------------------------------------------------------------------


def _plan(turn: DemoTurn) -> Plan:
    words = turn.prompt.lower()
    if not turn.path:
        return _without_notebook()
    if re.search(r"\b(fix|error|fail\w*|broken|wrong|repair)\b", words):
        return _fix(turn.path)
    if re.search(r"\b(plot|draw|chart|graph|visuali[sz]e)\b", words):
        return _plot(turn.path)
    return _tour(turn.path)


def _without_notebook() -> Plan:
    text = f"{LABEL}No notebook is open, so I list what there is."
    (found,) = yield Reply(text, (("list_files", {"pattern": "**/*.ipynb"}),))
    yield Reply(
        f"Notebooks here:\n\n```text\n{found.text}\n```\n\nOpen one and ask again: I can read it, "
        f"insert and run a cell, plot a DataFrame, or fix a misspelling. {_SETUP}"
    )


def _read(path: str, text: str) -> Generator[Reply, tuple[CallResult, ...], tuple[SeenCell, ...]]:
    (view,) = yield Reply(LABEL + text, (("read_notebook", {"path": path}),))
    cells = read_cells(view.text)
    ids = re.findall(r"^cell \d+ \(id (.+?)\) code", view.text, re.M)[:_MAX_CELLS]
    if not cells and ids:  # a large notebook: only its outline was shown
        more: JsonObject = {"path": path, "cells": list(ids)}
        (view,) = yield Reply(
            "It is long; I read its first code cells.", (("read_notebook", more),)
        )
        cells = read_cells(view.text)
    return cells


def _tour(path: str) -> Plan:
    cells = yield from _read(path, f"I read `{path}`.")
    code = [cell for cell in cells if cell.cell_type == "code" and cell.source.strip()]
    frames = frame_names([cell.source for cell in code])
    found = f"It has {len(cells)} cell{'s' if len(cells) != 1 else ''}, {len(code)} with code."
    if frames:
        found += f" It makes a DataFrame, `{frames[0]}`."
    source = f"{frames[0]}.describe()" if frames else 'print("Hello from Vitto’s demo")'
    if frames:
        yield from _ready(path, code, frames[0])
    text = f"{found} I add a cell at the end and run it, if you allow it."
    (ran,) = yield Reply(text, (_insert(path, source),))
    yield _ending(ran, "The new cell is at the end of the notebook.")


def _plot(path: str) -> Plan:
    cells = yield from _read(path, f"I look for a DataFrame in `{path}`.")
    code = [cell for cell in cells if cell.cell_type == "code"]
    frames = frame_names([cell.source for cell in code])
    if not frames:
        yield Reply("I found no cell that makes a DataFrame, so there is nothing to plot.")
        return
    name = frames[0]
    yield from _ready(path, code, name)
    source = (
        "import matplotlib.pyplot as plt\n\n"
        f'ax = {name}.plot(figsize=(7, 3.5), title="{name}")\n'
        "ax.spines[['top', 'right']].set_visible(False)\n"
        "plt.show()"
    )
    text = f"I add a cell that plots `{name}` and run it, if you allow it."
    (ran,) = yield Reply(text, (_insert(path, source),))
    yield _ending(ran, f"The plot of `{name}` is in the new cell and in the row above.")


def _ready(path: str, code: Sequence[SeenCell], name: str) -> Plan:
    """Runs the cells up to the one that makes `name`, when the kernel does not have it yet."""
    (known,) = yield Reply("", (("inspect_variables", {"path": path, "names": [name]}),))
    if not known.failed and re.search(rf"^{re.escape(name)}\b.*DataFrame", known.text, re.M):
        return
    made = next(i for i, cell in enumerate(code) if name in frame_names([cell.source]))
    ids: list[str] = [cell.cell_id for cell in code[: made + 1]]
    text = f"`{name}` is not in the kernel yet; the cells that make it have to run first."
    call = ("run_cells", {"path": path, "cell_ids": list(ids)})
    yield Reply(text, (call,))


def _fix(path: str) -> Plan:
    cells = yield from _read(path, f"I look for a failing cell in `{path}`.")
    code = [cell for cell in cells if cell.cell_type == "code" and cell.source.strip()]
    failing = next((cell for cell in code if _error_in(cell.output)), None)
    if failing is None:
        text = "No output shows an error, so I run the notebook to see where it fails."
        (ran,) = yield Reply(text, (("run_cells", {"path": path}),))
        if not ran.failed:
            yield Reply("Every cell ran without an error: there is nothing to fix.")
            return
        (view,) = yield Reply("", (("read_notebook", {"path": path}),))
        code = [cell for cell in read_cells(view.text) if cell.cell_type == "code"]
        failing = next((cell for cell in code if _error_in(cell.output)), None)
    if failing is None:
        yield Reply("The run did not end well, but no cell shows an error that I could fix.")
        return
    yield from _fix_cell(path, failing, [cell.source for cell in code])


def _fix_cell(path: str, cell: SeenCell, sources: Sequence[str]) -> Plan:
    error = _error_in(cell.output)
    fix = find_fix(cell.output, cell.source, sources)
    if fix is None:
        yield Reply(
            f"Cell {cell.label} fails with `{error}`. My few rules know misspelled names, columns, "
            f"attributes and modules; this is none of them. {_SETUP}"
        )
        return
    before, unique = unique_span(cell.source, fix.before)
    edit: JsonObject = {"path": path, "cell_id": cell.cell_id, "run": True}
    if unique:
        edit["edits"] = [{"before": before, "after": before.replace(fix.before, fix.after)}]
    else:
        edit["source"] = cell.source.replace(fix.before, fix.after)
    text = f"Cell {cell.label} fails with `{error}`. {fix.why} I propose the change as a diff."
    (ran,) = yield Reply(text, (("edit_cell", edit),))
    yield _ending(ran, f"Cell {cell.label} is fixed and has run.")


def _insert(path: str, source: str) -> tuple[str, JsonObject]:
    cells: list[JsonObject] = [{"cell_type": "code", "source": source}]
    return "insert_cells", {"path": path, "after": "end", "cells": list(cells), "run": True}


def _ending(result: CallResult, success: str) -> Reply:
    if not result.failed:
        return Reply(f"{success} {_SETUP}")
    said = result.text.strip().split("\n")[-1][:300]
    return Reply(f"That did not go through, and I leave it at that. The tool said: {said}")


# -- reading the conversation --------------------------------------------------------------------


def _error_in(output: str) -> str:
    found = re.findall(r"^(\w*(?:Error|Exception|Interrupt): .*)$", output, re.M)
    return found[-1][:200] if found else ""


def _call_result(block: JsonObject) -> CallResult:
    """With images a failed result cannot be marked: then its text says so."""
    text = _text_of(block.get("content"))
    return CallResult(text, block.get("is_error") is True or text.startswith("The call failed. "))


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(b.get("text", "")) for b in blocks if isinstance(b, dict))


def _path_in(texts: Sequence[str]) -> str:
    """The notebook named by the context in front of a prompt, see agent/context.py."""
    named = re.compile(r'^Open notebook: ("(?:[^"\\]|\\.)*"|.+?)(?: \(\d+ cells.*)?$', re.M)
    for text in texts:
        found = named.search(text)
        if found:
            return str(json.loads(found[1])) if found[1].startswith('"') else found[1]
    return ""
