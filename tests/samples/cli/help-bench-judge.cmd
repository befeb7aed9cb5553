bench judge --help
