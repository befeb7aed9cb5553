"""One file, one algorithm: each exports an Algorithm of its own name."""
