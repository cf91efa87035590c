"""What our bash is told: its start-up file, and how a command is typed. Pure.

What runs must be what was shown: no alias, no history expansion, no hook of the user's prompt
comes between the text and bash. Imported by the terminal adapters only.
"""

from __future__ import annotations

from ...errors import ToolError

LIMIT_CHARS = 100_000

# Not for the agent's shell: with these it could answer its own approvals or spend the user's money.
SECRET_VARIABLES = (
    "JUPYTER_TOKEN",
    "JUPYTERHUB_API_TOKEN",
    "JPY_API_TOKEN",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
)

# Pagers would take over the terminal and wait for a key.
EXTRA_ENVIRONMENT: dict[str, str | None] = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "BASH_ENV": None,
    **dict.fromkeys(SECRET_VARIABLES),
}

_USER_FILES = {
    "none": "",
    "interactive": "[ -f ~/.bashrc ] && . ~/.bashrc",
    "login": """[ -f /etc/profile ] && . /etc/profile
if [ -f ~/.bash_profile ]; then . ~/.bash_profile
elif [ -f ~/.bash_login ]; then . ~/.bash_login
elif [ -f ~/.profile ]; then . ~/.profile
fi""",
}

_START = r"""
@USER@
trap - DEBUG ERR RETURN EXIT
unset PROMPT_COMMAND PS0 HISTFILE @SECRETS@
set +e +u +x +v +H -o emacs
unalias -a
shopt -u expand_aliases
shopt -s interactive_comments
for __vitto_name in $(compgen -A function); do
  [ -n "$(PATH=/usr/bin:/bin type -P -- "$__vitto_name")" ] && unset -f "$__vitto_name"
done
unset __vitto_name
bind 'set enable-bracketed-paste on' 2>/dev/null
__vitto_key=@KEY@
__vitto_mark='\[\033]633;B;@KEY@\007\]'
__vitto_prompt() {
  local status=$?
  builtin set +H
  builtin unalias -a
  builtin shopt -u expand_aliases
  builtin shopt -s interactive_comments
  builtin printf '\033]633;D;%s;%s\007' "$__vitto_key" "$status"
  case $PS1 in
    *"$__vitto_mark"*) ;;
    *) PS1=$PS1$__vitto_mark ;;
  esac
}
PROMPT_COMMAND=__vitto_prompt
PS0='\033]633;C;@KEY@\007'
PS1='\w\$ '
PS2='\[\033]633;P;@KEY@\007\]> '
readonly -f __vitto_prompt
readonly PROMPT_COMMAND PS0 __vitto_key __vitto_mark
"""

_CLEAR_LINE = "\x05\x15"  # to the end, then delete: what the user had typed is not run


def start_file(key: str, *, user_files: str) -> str:
    """The text of the rc file. `user_files`: "none", "interactive" or "login"."""
    return (
        _START.replace("@USER@", _USER_FILES[user_files])
        .replace("@SECRETS@", " ".join(SECRET_VARIABLES))
        .replace("@KEY@", key)
    )


def check_command(command: str) -> str:
    """The command without line ends around it.

    Raises:
        ToolError: it is empty, too long, or holds a character that a terminal would act on.
    """
    command = command.strip("\n")
    if not command.strip():
        raise ToolError("The command is empty.", code="command_refused")
    if len(command) > LIMIT_CHARS:
        raise ToolError(
            f"The command is longer than {LIMIT_CHARS:,} characters.",
            code="command_refused",
            hint="Write a script with write_file and run that.",
        )
    for char in command:
        if _acts_on_terminal(char):
            raise ToolError(
                f"The command holds the control character U+{ord(char):04X}; nothing was run.",
                code="command_refused",
                hint=r"Write it as an escape, for example $'\t'.",
            )
    return command


def bracketed(command: str) -> str:
    """One unit for bash: several lines become one group, which has one end and one exit code."""
    return f"{{\n{command}\n}}" if "\n" in command else command


def typed(command: str) -> str:
    """The characters that run `command` at a prompt, as a paste: no key in it acts on its own."""
    return f"{_CLEAR_LINE}\x1b[200~{bracketed(command)}\x1b[201~\r"


def _acts_on_terminal(char: str) -> bool:
    code = ord(char)
    control = code < 0x20 and char != "\n"
    return control or 0x7F <= code <= 0x9F or 0xD800 <= code <= 0xDFFF
