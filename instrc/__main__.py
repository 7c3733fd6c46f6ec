"""`python -m instrc` is `instrc`."""

import sys

from instrc.cli import main

sys.exit(main())
