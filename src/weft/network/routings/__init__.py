"""One file, one routing: each exports a Routing of its own name."""
