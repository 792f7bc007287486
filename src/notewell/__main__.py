"""`python -m notewell` is the command line."""

from notewell.cli import command

command()
