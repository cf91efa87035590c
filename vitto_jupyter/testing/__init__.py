"""Doubles and builders for tests; public, so that other packages can test against Vitto."""
