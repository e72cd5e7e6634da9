"""gradely completion: completion of commands, options, measures and files in shells."""

import click
from click.shell_completion import BashComplete, ShellComplete, get_completion_class, split_arg_string

from gradely.cli.output import say

SHELLS = ("bash", "zsh", "fish")
BASH = """\
%(complete_func)s() {
    local line="${COMP_LINE:0:COMP_POINT}" kind value before
    # Bash cuts words at @ and =, and replaces only the last part, which is $2.
    before="${line##*[[:space:]]}"
    before="${before%%"$2"}"
    while IFS=, read -r kind value; do
        case "$kind" in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("${value#"$before"}") ;;
        esac
    done < <(COMP_WORDS="$line" %(complete_var)s=bash_complete "$1")
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""
HELP = """Print a script that makes your shell complete commands, options, measures and files when you press Tab.

\b
bash (4.4 or newer), in ~/.bashrc:  eval "$(gradely completion bash)"
zsh, in ~/.zshrc after compinit:    eval "$(gradely completion zsh)"
fish:  gradely completion fish > ~/.config/fish/completions/gradely.fish
"""


class Bash(BashComplete):
    """Completion in bash, based on the line up to the cursor, since bash splits nDCG@10 into three words."""

    source_template = BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and the incomplete word at the cursor."""
        import os

        line = os.environ.get("COMP_WORDS", "")
        words = split_arg_string(line)[1:]
        return (words, "") if line.endswith(" ") or not words else (words[:-1], words[-1])


def completer(shell: str) -> ShellComplete:
    """Return the completion of click for a shell."""
    from gradely.cli.main import COMPLETION, gradely

    kind = Bash if shell == "bash" else get_completion_class(shell)
    assert kind is not None  # click knows these shells
    return kind(gradely, {}, "gradely", COMPLETION)


def complete(instruction: str) -> int:
    """Print the completions that a shell has requested, and return the exit code."""
    shell = instruction.removesuffix("_complete")
    if shell not in SHELLS:
        return 1
    say(completer(shell).complete() + "\n")
    return 0


@click.command("completion", help=HELP)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion script for a shell."""
    script = completer(shell)
    say(script.source_template % script.source_vars())
