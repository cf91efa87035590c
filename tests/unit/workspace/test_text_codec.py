"""Files with all kinds of encodings and line ends keep what an edit does not touch."""

from __future__ import annotations

import random

import pytest

from vitto_jupyter.errors import NotText, WriteFailed
from vitto_jupyter.workspace.text_codec import decode, encode, keep_line_ends


def rewrite(content: bytes, old: str, new: str) -> bytes:
    file = decode(content, name="f")
    assert old in file.text
    return encode(file, file.text.replace(old, new))


@pytest.mark.parametrize(
    ("content", "encoding", "text"),
    [
        (b"", "utf-8", ""),
        ("naïve\n".encode(), "utf-8", "naïve\n"),
        (b"\xef\xbb\xbfa\r\nb", "utf-8-sig", "a\nb"),
        (b"\xff\xfea\x00\r\x00\n\x00", "utf-16-le", "a\n"),
        (b"\xfe\xff\x00a\x00\n", "utf-16-be", "a\n"),
        (b"caf\xe9 \x80 5\n", "cp1252", "café € 5\n"),
        (b"old\rmac\r", "utf-8", "old\nmac\n"),
    ],
)
def test_encoding_is_found_and_line_ends_are_normalised(
    content: bytes, encoding: str, text: str
) -> None:
    file = decode(content, name="f")
    assert (file.encoding, file.text) == (encoding, text)


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00",
        b"\x00\x01",
        b"\xff\xfe\x00\x00a\x00\x00\x00",
        b"\xff\xfea",
        b"caf\xe9\x01",
        b"\x81\x8d text",
        "漢字と仮名が続く長い文章".encode("shift-jis"),
        "汉字文本文件内容".encode("gbk"),
    ],
)
def test_what_is_not_clearly_text_is_refused(content: bytes) -> None:
    with pytest.raises(NotText):
        decode(content, name="f")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfone\ntwo\n", b"\xef\xbb\xbfone\n2\n"),
        (b"\xff\xfeo\x00n\x00e\x00\n\x00t\x00w\x00o\x00", b"\xff\xfeo\x00n\x00e\x00\n\x002\x00"),
        (b"caf\xe9\r\ntwo\r\n", b"caf\xe9\r\n2\r\n"),
        (b"one\r\ntwo\nthree\r\n", b"one\r\n2\nthree\r\n"),
        (b"one\rtwo\r", b"one\r2\r"),
    ],
)
def test_an_edit_changes_only_its_bytes(before: bytes, after: bytes) -> None:
    assert rewrite(before, "two", "2") == after


def test_a_one_line_edit_of_a_crlf_file_differs_in_one_line() -> None:
    before = b"".join(b"line %d\r\n" % number for number in range(1000))
    after = rewrite(before, "line 500\n", "changed\n")
    differing = [
        pair
        for pair in zip(before.split(b"\n"), after.split(b"\n"), strict=True)
        if len(set(pair)) > 1
    ]
    assert differing == [(b"line 500\r", b"changed\r")]


def test_new_lines_get_the_majority_of_a_mixed_file() -> None:
    assert keep_line_ends("a\r\nb\r\nc\n", "a\nnew\nb\nc\nend\n") == "a\r\nnew\r\nb\r\nc\nend\r\n"


def test_a_mark_is_never_added_to_a_file_without_it_and_never_doubled() -> None:
    assert encode(decode(b"a", name="f"), "\ufeffb") == b"b"
    assert encode(decode(b"\xef\xbb\xbfa", name="f"), "\ufeffb") == b"\xef\xbb\xbfb"


def test_a_character_that_the_encoding_lacks_is_refused_and_named() -> None:
    with pytest.raises(WriteFailed, match="Windows-1252"):
        encode(decode(b"caf\xe9", name="f"), "café λ")
    with pytest.raises(WriteFailed):
        encode(decode(b"a", name="f"), "\ud800")


ENCODINGS = {
    "utf-8": (b"", "utf-8", "aé漢 "),
    "utf-8-sig": (b"\xef\xbb\xbf", "utf-8", "aé漢 "),
    "utf-16-le": (b"\xff\xfe", "utf-16-le", "aé漢 "),
    "cp1252": (b"", "cp1252", "aaaaé "),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("seed", range(40))
def test_bytes_outside_a_random_edit_are_unchanged(encoding: str, seed: int) -> None:
    rng = random.Random(f"{encoding}{seed}")
    bom, codec, letters = ENCODINGS[encoding]
    ends = rng.choice((["\n"], ["\r\n"], ["\n", "\r\n"], ["\n", "\r\n", "\r"]))
    # Lines are numbered: with equal lines it is not decided which of them was deleted.
    lines = [
        f"{number}" + "".join(rng.choices(letters, k=rng.randint(0, 8)))
        for number in range(rng.randint(1, 40))
    ]
    written = [line + rng.choice(ends) for line in lines]
    first, last = sorted(rng.choices(range(len(lines) + 1), k=2))
    new = [f"n{number} x" for number in range(rng.randint(0, 4))]
    wanted = [*lines[:first], *new, *lines[last:]]
    before = bom + "".join(written).encode(codec)
    after = encode(decode(before, name="f"), "".join(f"{line}\n" for line in wanted))
    head = bom + "".join(written[:first]).encode(codec)
    tail = "".join(written[last:]).encode(codec)
    assert after.startswith(head)
    assert after.endswith(tail)
    middle = after[len(head) : len(after) - len(tail)].decode(codec)
    assert middle.replace("\r\n", "\n").replace("\r", "\n") == "".join(f"{line}\n" for line in new)
