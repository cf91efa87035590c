"""The command line: where JupyterLab starts and what is passed on."""

from __future__ import annotations

import json
import runpy
from importlib.resources import files
from pathlib import Path

import pytest

from vitto_jupyter.cli import EXAMPLE, Place, lab_arguments, main, place_of


def test_a_folder_becomes_the_root(tmp_path: Path) -> None:
    assert place_of(str(tmp_path), Path.cwd()) == Place(tmp_path)


def test_a_notebook_is_opened_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "my work.ipynb").touch()
    place = place_of("my work.ipynb", tmp_path)
    assert place == Place(tmp_path, "my work.ipynb")
    assert place.url == "/lab/tree/my%20work.ipynb"


def test_the_side_bar_opens_without_a_document_too(tmp_path: Path) -> None:
    assert Place(tmp_path).url == "/lab"
    assert "--VittoApp.open_sidebar=True" in lab_arguments(Place(tmp_path), [])


def test_without_a_path_the_example_is_copied(tmp_path: Path) -> None:
    place = place_of(None, tmp_path)
    assert place == Place(tmp_path / "vitto-demo", EXAMPLE)
    assert json.loads((place.root / EXAMPLE).read_text())["nbformat"] == 4


def test_an_example_that_was_worked_on_is_left_alone(tmp_path: Path) -> None:
    first = place_of(None, tmp_path)
    (first.root / first.document).write_text("my work")
    second = place_of(None, tmp_path)
    assert second.document == "try-vitto-2.ipynb"
    assert (first.root / first.document).read_text() == "my work"
    assert place_of(None, tmp_path) == second


def test_a_missing_path_is_told_in_plain_words(tmp_path: Path, capsys) -> None:
    assert main(["lab", str(tmp_path / "nowhere")]) == 2
    assert capsys.readouterr().err.startswith("vitto: No such file or directory: ")


def test_other_options_go_to_jupyterlab_and_win(tmp_path: Path) -> None:
    arguments = lab_arguments(Place(tmp_path), ["--port=1234", "--no-browser"])
    assert arguments[-2:] == ["--port=1234", "--no-browser"]
    assert f"--ServerApp.root_dir={tmp_path}" in arguments


def test_no_command_is_an_error(capsys) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([])
    assert stopped.value.code == 2


def test_the_example_runs_up_to_its_last_cell(tmp_path: Path) -> None:
    content = files("vitto_jupyter").joinpath("examples", EXAMPLE).read_text("utf-8")
    notebook = json.loads(content)
    code = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    script = tmp_path / "cells.py"
    script.write_text("\n".join("".join(cell["source"]) for cell in code[:-1]))
    namespace = runpy.run_path(str(script))
    with pytest.raises(KeyError, match="chanel"):
        exec("".join(code[-1]["source"]), namespace)
