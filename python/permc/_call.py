"""Calls of the command `permc`, for what stands between people and it."""

import os
import pathlib
import subprocess
import sys


def permc(*words, given=None, cwd=None):
    """What `permc WORDS` prints, on both streams, and its exit status. It is this package's permc,
    whatever lies in the folder of the program."""
    here = str(pathlib.Path(__file__).resolve().parents[1])
    paths = os.pathsep.join([here, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    words = [word.encode("utf-8", "surrogateescape") for word in words]  # in any locale
    done = subprocess.run([sys.executable, "-P", "-m", "permc", *words], input=given, cwd=cwd,
                          env={**os.environ, "PYTHONPATH": paths}, capture_output=True, check=False,
                          encoding="utf-8", errors="replace")
    return done.stdout, done.stderr, done.returncode
