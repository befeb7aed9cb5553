"""One rule a file; its page in the documentation is the docstring of its file."""
