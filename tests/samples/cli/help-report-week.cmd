report week --help
