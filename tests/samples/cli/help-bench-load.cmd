bench load --help
