"""What the user asks about: the cluster and the job, from files, presets and options."""
