"""`weft bench` (verify): judge, run, compare and localise benchmarks of the network."""

import typer

from weft.cli.commands.bench.history import history
from weft.cli.commands.bench.judge import judge
from weft.cli.commands.bench.load import load
from weft.cli.commands.bench.localise import localise
from weft.cli.commands.bench.run import run

bench = typer.Typer(
    help="Judge, run, compare and localise benchmarks of the network.", no_args_is_help=True
)
bench.command()(judge)
bench.command()(run)
bench.command()(history)
bench.command()(localise)
bench.command()(load)
