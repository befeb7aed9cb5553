schema --help
