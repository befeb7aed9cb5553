"""One file for each input whose move could change the verdict."""
