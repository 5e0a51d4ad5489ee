"""The module where einops once tried to index by names; it has no names in einops either."""
