spec schema --help
