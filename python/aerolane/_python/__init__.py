"""The parts of the compiled module that are Python: it imports them, and programs use them through it."""
