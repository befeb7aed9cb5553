emulate --help
