collect --help
