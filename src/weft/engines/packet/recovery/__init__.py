"""Loss recovery, one file each; a file exports the Recovery of its own name."""
