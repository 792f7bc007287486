"""`notewell completion`: made from the parser, so it is never behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.cli.output import say
from notewell.cli.parser import build_parser

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    import shtab

    say(shtab.complete(build_parser(), shell=arguments.shell))
    return 0
