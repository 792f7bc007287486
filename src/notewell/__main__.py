"""`python -m notewell` is the command line."""

import sys

from notewell.cli import main

sys.exit(main())
