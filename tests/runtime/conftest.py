"""The presence of this file makes its neighbours importable."""
