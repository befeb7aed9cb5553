expect --help
