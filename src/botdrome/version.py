"""The version of Botdrome. Nothing inside the package imports the public API for it."""

__version__ = "0.1.0"
