"""THE contract: everything that crosses the wire, as frozen Pydantic models.

TypeScript types are generated from here (see schema.py); nothing here knows Jupyter.
"""
