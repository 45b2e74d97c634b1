"""Runs the Python of docs/*.md. Run with the package's folder on PYTHONPATH.

    ```python    a script: it must end without an exception
    ```output    behind it: what it prints, where `...` stands for anything
    ```perm      a program of the page; a script has the last one before it, as the file .perm that it names

Scripts run in a folder of their own that has the sources' examples/. One that imports what is not
installed is skipped. The last line counts: N passed, N failed, N skipped."""

import contextlib
import doctest
import io
import os
import pathlib
import re
import sys
import tempfile
import traceback

SOURCES = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("python", "tutorial", "cookbook")


def scripts(page):
    """(line, script, what it prints or None, the program before it)"""
    program, found = "", []
    text = page.read_text()
    for block in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S):
        kind, body = block.groups()
        if kind == "perm":
            program = body
        elif kind == "python" and not body.startswith(">>>"):
            found.append([text.count("\n", 0, block.start()) + 1, body, None, program])
        elif kind == "output" and found and last == "python":
            found[-1][2] = body
        last = kind
    return found


def run(script, program):
    """What it prints."""
    for name in re.findall(r"\w+\.perm", script):
        if not os.path.exists(name) or name not in os.listdir("examples"):
            pathlib.Path(name).write_text(program)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(script, "script", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.symlink(SOURCES / "examples", "examples")
        for name in PAGES:
            for line, script, expected, program in scripts(SOURCES / "docs" / f"{name}.md"):
                outcome = "passed"
                try:
                    found = run(script, program)
                    if expected is not None and not doctest.OutputChecker().check_output(
                            expected, found, doctest.ELLIPSIS):
                        outcome = "failed"
                        print(f"docs/{name}.md:{line}: the script prints\n{found}")
                except ImportError as missing:
                    outcome = "skipped"
                    print(f"docs/{name}.md:{line}: skipped: {missing}")
                except Exception:
                    outcome = "failed"
                    print(f"docs/{name}.md:{line}:")
                    traceback.print_exc(file=sys.stdout)
                counts[outcome] += 1
        os.chdir(SOURCES)
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return counts["failed"] != 0


if __name__ == "__main__":
    sys.exit(main())
