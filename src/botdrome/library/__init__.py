"""The public Python API, which `botdrome/__init__.py` exports."""
