"""`python -m orkeon_transitions` is the same as `orkeon`."""

import sys

from orkeon_transitions.cli import main

if __name__ == "__main__":
    sys.exit(main())
