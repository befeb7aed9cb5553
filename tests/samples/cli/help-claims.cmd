claims --help
