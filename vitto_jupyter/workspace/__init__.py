"""The workspace: documents, terminals and kernels, behind the ports of base.py."""
