bench history --help
