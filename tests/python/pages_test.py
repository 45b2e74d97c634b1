"""Runs the Python of README.md and docs/*.md. Run with the package's folder on PYTHONPATH.

    ```python    a session if it begins with >>>, and all sessions of a page are one; else a script,
                 which must end without an exception
    ```output    behind a script: what it prints, where `...` stands for anything
    ```perm      a program of the page; a script has the last one before it, as the .perm that it names

They run in a folder of their own that has the sources' examples/. What imports something that is not
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

try:
    import numpy
    import permc
except ModuleNotFoundError as missing:
    print(f"skipped: {missing}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

SOURCES = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("README", "docs/embedding", "docs/guide")
counts = {"passed": 0, "failed": 0, "skipped": 0}


def run_session(text, place, names):
    examples = doctest.DocTestParser().get_doctest(text, names, place, place, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    failed = runner.run(examples, clear_globs=False).failed
    names.update(examples.globs)
    return not failed


def run_script(text, place, expected):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, place, "exec"), {"__name__": "__main__"})
    if expected is None or doctest.OutputChecker().check_output(expected, printed.getvalue(),
                                                                doctest.ELLIPSIS):
        return True
    print(f"{place}: the script prints\n{printed.getvalue()}")
    return False


def run_page(page):
    text, program, names = (SOURCES / f"{page}.md").read_text(), "", {}
    blocks = [(block.start(), *block.groups())
              for block in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)]
    for (start, kind, body), (_, next_kind, next_body) in zip(blocks, [*blocks[1:], (0, "", "")]):
        place = f"{page}.md:{text.count(chr(10), 0, start) + 1}"
        if kind == "perm":
            program = body
        if kind != "python":
            continue
        for name in re.findall(r"\w+\.perm", body):
            pathlib.Path(name).write_text(program)
        try:
            passed = (run_session(body, place, names) if body.startswith(">>>") else
                      run_script(body, place, next_body if next_kind == "output" else None))
            counts["passed" if passed else "failed"] += 1
        except ImportError as missing:
            print(f"{place}: skipped: {missing}")
            counts["skipped"] += 1
        except Exception:
            print(f"{place}: ", end="")
            traceback.print_exc(file=sys.stdout)
            counts["failed"] += 1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.symlink(SOURCES / "examples", "examples")
        for page in PAGES:
            run_page(page)
        os.chdir(SOURCES)
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    sys.exit(counts["failed"] != 0)
