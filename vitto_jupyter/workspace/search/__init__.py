"""Search over a local contents root with ripgrep."""
