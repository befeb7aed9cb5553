spec validate --help
