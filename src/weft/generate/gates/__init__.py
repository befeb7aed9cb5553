"""Gates that people run: one file a tool that takes a threshold."""
