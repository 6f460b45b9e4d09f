"""Benchmarks of the index, mounted as commands of `openbook bench`."""
