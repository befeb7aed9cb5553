init --help
