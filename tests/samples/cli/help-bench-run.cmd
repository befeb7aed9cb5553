bench run --help
