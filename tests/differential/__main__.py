"""`python -m tests.differential`: see the package."""

import sys

from .run import main

if __name__ == "__main__":
    sys.exit(main())
