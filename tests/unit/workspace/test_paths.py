import pytest

from vitto_jupyter.errors import PathRefused
from vitto_jupyter.workspace.paths import api_path, check_pattern, shown


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.txt", "a.txt"),
        ("./a//b.txt", "a/b.txt"),
        ("a/../b.txt", "b.txt"),
        ("", ""),
        (".", ""),
        ("a/", "a"),
        ("/work/proj", ""),
        ("/work/proj/", ""),
        ("/work/proj/a/b.txt", "a/b.txt"),
        ("%2e%2e/%2e%2e/etc/passwd", "%2e%2e/%2e%2e/etc/passwd"),
        ("naïve file.txt", "naïve file.txt"),
        ("ab:c.txt", "ab:c.txt"),
    ],
)
def test_usable_paths_become_api_paths(path, expected):
    assert api_path(path, root="/work/proj") == expected


@pytest.mark.parametrize(
    "path",
    [
        "/work/proj-secrets/key",
        "../proj-secrets/new.txt",
        "/work/proj/../x",
        "a/../../x",
        "/work/proj /key.txt",
        "notes.txt\0.png",
        "invoice\u202efdp.py",
        "a\nb.txt",
        "a\x85b",
        "folder /key.txt",
        "a.txt ",
        "a.txt\u00a0",
        "~/x",
        "~",
        "C:/x",
        "c:\\x",
        "\\\\host\\share",
        "src\\app.py",
        "a\udc80b",
        "x" * 5000,
    ],
)
def test_paths_that_leave_the_root_or_hide_what_they_are_are_refused(path):
    with pytest.raises(PathRefused):
        api_path(path, root="/work/proj")


def test_the_file_system_root_may_be_the_contents_root():
    assert api_path("/etc/hostname", root="/") == "etc/hostname"


def test_the_root_of_another_system_is_mapped_too():
    assert api_path("C:\\Users\\u\\a\\b.txt", root="C:\\Users\\u") == "a/b.txt"
    assert api_path("~/proj/a.txt", root="~/proj") == "a.txt"


def test_messages_show_deceptive_characters_as_escapes():
    assert shown("a\u202eb\x1b") == '"a\\u202eb\\u001b"'
    with pytest.raises(PathRefused) as caught:
        api_path("a\u202eb")
    assert "\u202e" not in caught.value.message


@pytest.mark.parametrize("pattern", ["../**/*.pem", "/etc/*", "~/*", "a/../../b", "a\0*"])
def test_patterns_stay_below_the_root(pattern):
    with pytest.raises(PathRefused):
        check_pattern(pattern)
