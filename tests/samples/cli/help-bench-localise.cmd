bench localise --help
