"""The child process of matching.py: one JSON text a line in, its matching line numbers out.

Started as a script, never imported: it must not pull in the rest of the package.
"""

import json
import re
import sys


def main(pattern: str, max_line_chars: int) -> None:
    find = re.compile(pattern).search
    for message in sys.stdin:
        lines = json.loads(message).split("\n")
        found = [at for at, line in enumerate(lines) if len(line) <= max_line_chars and find(line)]
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
