runbook --help
