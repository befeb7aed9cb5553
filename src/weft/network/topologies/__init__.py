"""One file, one topology: each exports a Topology of its own name."""
