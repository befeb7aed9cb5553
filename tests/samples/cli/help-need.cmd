need --help
