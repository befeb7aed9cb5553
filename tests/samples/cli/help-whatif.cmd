whatif --help
