"""Runs of cells, over documents and kernels."""
