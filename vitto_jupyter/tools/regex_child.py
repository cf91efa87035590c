"""The child process of matching.py: JSON lists of texts in, a list of line numbers per text out.

Started as a script, never imported: it must not pull in the rest of the package.
"""

import json
import re
import sys


def main(pattern: str, max_line_chars: int) -> None:
    find = re.compile(pattern).search
    for message in sys.stdin:
        for text in json.loads(message):
            lines = enumerate(text.split("\n"))
            found = [at for at, line in lines if len(line) <= max_line_chars and find(line)]
            sys.stdout.write(json.dumps(found) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
