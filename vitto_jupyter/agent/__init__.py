"""The agent: the loop and its decisions; asyncio and values only."""
