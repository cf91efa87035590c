"""Files and notebooks, where they live: in pages, in memory, behind the contents API."""
