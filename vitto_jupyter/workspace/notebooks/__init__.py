"""Notebook files: their JSON, cells, edits and outputs. Pure."""
