"""Stands for PyTorch, as far as `torchrun -m permc` uses it: see distributed.py."""

uint8 = "uint8"


def frombuffer(memory, dtype):
    return memory
