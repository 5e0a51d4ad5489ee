"""The package that einops has for experiments, without any."""
