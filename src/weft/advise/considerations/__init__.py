"""One file for each thing an architect weighs beside the cost of a token."""
