"""Runs a program in an interpreter of its own, where warnings are errors, to what it prints."""

import subprocess
import sys
import textwrap


def run(program: str, *options: str, timeout: float = 300) -> str:
    """The standard output of a program that must end well.

    A test that would hang, or change the process for good, runs its program here. The limit on
    the time only ends a program that hangs; it is far above what any of them needs.
    """
    command = [sys.executable, "-X", "faulthandler", "-W", "error", *options]
    done = subprocess.run(
        [*command, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert not done.stderr, done.stderr
    return done.stdout
