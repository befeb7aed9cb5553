monitor --help
