"""What rows of `lint/tables` cannot say; the row that names a predicate documents it."""
