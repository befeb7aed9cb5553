"""Clouds, one file each: what their networks want of NCCL."""
