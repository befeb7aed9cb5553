"""`weft report` (operate): what a time on the cluster brought and cost."""

import typer

from weft.cli.commands.report.week import week

report = typer.Typer(help="Say what a week brought and cost.", no_args_is_help=True)
report.command()(week)
