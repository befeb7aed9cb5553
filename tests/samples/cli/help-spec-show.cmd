spec show --help
