"""Rows of published files, as what weft predicts."""
