"""Policy: pure judgement of parsed facts; decides what runs, asks or is refused."""
