"""`python -m tablewright`: the same as the `tablewright` command."""

import sys

from tablewright.cli import main

sys.exit(main())
