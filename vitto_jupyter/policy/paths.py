"""Names that need more than the usual care, wherever in the workspace they are. Pure.

A name counts in any letter case, with or without invisible characters in it, and also when
nothing is there yet. The contents root is often the home folder, so staying inside the root
protects none of these.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Literal

from ..protocol.tool import Effect

Action = Literal["allow", "ask", "deny"]
_STRICTNESS: tuple[Action, ...] = ("allow", "ask", "deny")


@dataclass(frozen=True, slots=True)
class Care:
    """How a path is treated: `change` counts for writing and running. `why` is for a person."""

    change: Action
    read: Action
    why: str

    def action(self, effect: Effect) -> Action:
        return self.read if effect == "read" else self.change


_OWN = Care("deny", "ask", "Vitto's own files and the trust in notebooks are for people to change.")
_LOGIN = Care("deny", "deny", "Who has this file can act as the user on the Jupyter server.")
_SECRET = Care("ask", "ask", "Such files hold passwords or keys.")
_STARTUP = Care("ask", "allow", "Programs run or obey what is in this file, later and unasked.")

# Parts of a path that follow each other, anywhere in it; "/**" takes in all that is below.
_NAMES: tuple[tuple[Care, str], ...] = (
    (_OWN, ".vitto/** nbsignatures.db notebook_secret"),
    (
        _LOGIN,
        "jpserver-*.json jpserver-*.html nbserver-*.json nbserver-*.html jupyter_cookie_secret "
        "kernel-????????-????-????-????-????????????.json share/jupyter/runtime/** "
        "library/jupyter/runtime/**",
    ),
    (
        _SECRET,
        ".env .env.* *.env .envrc *.pem *.key *.p12 *.pfx *.ppk *.jks id_rsa id_dsa id_ecdsa "
        "id_ed25519 .netrc _netrc .pgpass .my.cnf .pypirc .npmrc .htpasswd .git-credentials "
        ".git/config .ssh/** .aws/** .azure/** .gnupg/** .kube/** .docker/config.json "
        ".config/gcloud/** .config/gh/** .streamlit/secrets.toml kaggle.json .vault-token "
        ".huggingface/token huggingface/token credentials.json service-account*.json",
    ),
    (
        _STARTUP,
        ".git/** git~1/** .gitconfig .gitmodules .githooks/** .husky/** .pre-commit-config.yaml "
        ".bash* .profile .zsh* .zprofile .zlog* .kshrc .login .inputrc .xprofile .xinitrc "
        ".ssh/** .config/** .jupyter/** jupyter_*config.* .ipython/** jupyter/kernels/** "
        "kernel.json jupyter/labconfig/** labconfig/** pip.conf pip.ini .pip/** .condarc "
        "sitecustomize.py usercustomize.py *.pth .pythonrc* .pdbrc .envrc .direnv/** .npmrc "
        ".yarnrc* .rprofile .renviron .julia/config/** .vscode/** .idea/** .devcontainer/** "
        ".cursor/** .windsurf/** .mcp.json mcp.json .claude/** .codex/** .gemini/** "
        ".continue/** .aider*",
    ),
)
_HARMLESS = ("*.example", "*.sample", "*.template", "*.dist")
_PATTERNS = tuple((care, name.split("/")) for care, names in _NAMES for name in names.split())


def care_of(path: str, effect: Effect, *, private: str | None = None) -> tuple[Action, str]:
    """What a path alone asks for, and why; ("allow", "") for an ordinary one.

    Args:
        path: An API path, links resolved.
        private: The API path of the folder where Vitto keeps its sessions; None when that is
            not below the root.
    """
    found = [care for care in _cares(path, private) if care.action(effect) != "allow"]
    if not found:
        return "allow", ""
    strictest = max(found, key=lambda care: _STRICTNESS.index(care.action(effect)))
    return strictest.action(effect), strictest.why


def is_secret(path: str) -> bool:
    """Whether reading it is for the user to allow."""
    return care_of(path, "read")[0] != "allow"


def below(root: str, folder: PurePath) -> str | None:
    """The API path of `folder` in the contents root `root`; None when it is not in there."""
    try:
        return folder.relative_to(root).as_posix()
    except ValueError:
        return None


def _cares(path: str, private: str | None) -> Iterator[Care]:
    parts = [_plain(part) for part in path.split("/") if part]
    if private is not None:
        own = [_plain(part) for part in private.split("/")]
        if parts[: len(own)] == own:
            yield _OWN
    if not parts or any(fnmatchcase(parts[-1], name) for name in _HARMLESS):
        return
    yield from (care for care, pattern in _PATTERNS if _is_in(pattern, parts))


def _plain(name: str) -> str:
    """A name as file systems compare it that ignore case, width, invisible marks or end dots."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(c for c in folded if unicodedata.category(c) != "Cf").rstrip(". ")


def _is_in(pattern: list[str], parts: list[str]) -> bool:
    *names, last = pattern
    names = names if last == "**" else pattern
    starts = range(len(parts) - len(names) + 1)
    if last != "**":
        starts = starts[-1:]
    return any(
        all(fnmatchcase(parts[start + n], name) for n, name in enumerate(names)) for start in starts
    )
