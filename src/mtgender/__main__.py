"""`python -m mtgender`."""

import sys

from mtgender.cli import main

sys.exit(main())
