"""`python -m instrc` and the command `instrc`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line of the process; Ctrl-C ends it without a traceback, also while its modules are loaded."""
    try:
        from instrc.cli import main as run

        return run()
    except KeyboardInterrupt:
        return 130  # as a shell reports a program that was stopped by Ctrl-C


if __name__ == "__main__":
    sys.exit(main())
