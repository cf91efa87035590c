"""Writes the cases of cut outputs. Run it after a change of the rule:

python tests/golden/write_output_cut.py

Then read the difference: hosts/lab/documents/output-cut.ts is held to the same file.
"""

import sys
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent / "support"))

from output_cut_cases import golden_text  # noqa: E402

if __name__ == "__main__":
    (FOLDER / "output_cut.json").write_text(golden_text(), encoding="utf-8")
