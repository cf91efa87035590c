"""Providers: where a language model's answers come from, behind the port of base.py."""
