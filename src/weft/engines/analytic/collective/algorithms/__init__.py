"""The algorithms of NCCL, one file each."""
