"""Handlers: HTTP and server-sent events; they translate and do not decide."""
