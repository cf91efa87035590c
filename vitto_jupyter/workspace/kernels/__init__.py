"""Kernels, and what they print."""
