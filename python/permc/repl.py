"""Definitions and expressions, one after the other: `python -m permc repl [FILE]`.

    permc> double x = 2 * x
    permc> map double [1, 2, 3]
    [2i64, 4i64, 6i64]
    permc> :type map double
    []t1 -> []t1
    permc> :explain sort : [2^20]u32

The definitions of a session, behind those of FILE, are a program in a folder of its own; each line
is a call of `permc` on it. A line that ends with a backslash goes on in the next one."""

import contextlib
import pathlib
import re
import sys
import tempfile

from ._call import permc

HELP = """NAME PATTERNS = EXPR, NAME : TYPE   a definition; the same left side again replaces it
:forget NAME                        without the definitions of that name
EXPR                                its value
:type EXPR                          its type
:explain EXPR : TYPES               how it will run on arguments of these types
:draw EXPR : TYPES                  its network or matrix
:time EXPR                          its value, and what each stage took
:help NAME                          a function, or a verb of permc
:list, :quit                        the definitions; the end"""
NAME = r"[A-Za-z_][A-Za-z0-9_']*"
SIGNATURE = re.compile(rf"({NAME})\s*:\s")
EQUATION = re.compile(rf"(?!(?:let|if|xor)\b)({NAME})(?:\s+[^=<>!|]*)?\s*(?:=(?![=>])|\|(?![|>]))")


class Session:
    def __init__(self, folder, file=None):
        self.path, self.file = folder / "session.perm", file
        self.definitions = []  # (name, left side, text)

    def text(self):
        before = f'import "{pathlib.Path(self.file).resolve()}"\n' if self.file else ""
        return before + "\n".join(text for _, _, text in self.definitions) + "\n"

    def permc(self, verb, *words):
        """The call's output, for people, and whether all is well."""
        self.path.write_text(self.text(), "utf-8")
        printed, said, status = permc(verb, *words, cwd=self.path.parent)
        return printed + said, status == 0

    def define(self, name, line):
        """In the place of the same left side, else behind the last row of the name."""
        left = f"{name} :" if SIGNATURE.match(line) else re.split(r"[=|]", line)[0].strip()
        before, rows = self.definitions, list(self.definitions)
        same = [at for at, row in enumerate(rows) if row[1] == left]
        named = [at + 1 for at, row in enumerate(rows) if row[0] == name]
        if same:
            rows[same[0]] = (name, left, line)
        else:
            rows.insert(named[-1] if named else len(rows), (name, left, line))
        self.definitions = rows
        if SIGNATURE.match(line):  # its equations come
            return ""
        said, well = self.permc("check", self.path.name, "-e", "true")
        if not well:
            self.definitions = before
        return said

    def forget(self, name):
        self.definitions = [row for row in self.definitions if row[0] != name]
        return ""

    def type_of(self, expression):
        self.definitions.append(("it", "it", f"it = {expression}"))
        said, _ = self.permc("explain", self.path.name, "--entry", "it")
        self.definitions.pop()
        found = re.search(r"no signature\nhint: .*, such as 'it : (.*)'$", said, re.M)
        return found[1] + "\n" if found else said

    def answer(self, line):
        """What a line says."""
        command, _, rest = line.partition(" ")
        expression, _, types = rest.rpartition(" : ") if " : " in rest else (rest, "", "")
        of_types = ("--arguments", types) if types else ()
        if not line or line.startswith("--"):
            return ""
        if command == ":type":
            return self.type_of(rest)
        if command in (":explain", ":draw"):
            return self.permc(command[1:], self.path.name, "-e", expression, *of_types)[0]
        if command == ":time":
            return self.permc("run", self.path.name, "-e", rest, "--time")[0]
        if command == ":help":
            return self.permc("help", rest)[0] if rest else HELP + "\n"
        if command == ":forget":
            return self.forget(rest)
        if command == ":list":
            return self.text()
        if command.startswith(":"):
            return f"there is no {command}\n{HELP}\n"
        defined = SIGNATURE.match(line) or EQUATION.match(line)
        left = defined[0] if defined else ""
        if defined and all(left.count(a) == left.count(b) for a, b in ("()", "[]")):
            return self.define(defined[1], line)
        return self.permc("run", self.path.name, "-e", line)[0]


def main(words):
    with contextlib.suppress(ImportError):
        import readline  # input() has history and editing then
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(errors="replace")
    with tempfile.TemporaryDirectory() as folder:
        session, line = Session(pathlib.Path(folder), *words[:1]), ""
        while True:
            try:
                line += input("  ...> " if line else "permc> ")
            except EOFError:
                return
            except KeyboardInterrupt:
                line = ""
                print()
                continue
            if line.endswith("\\"):
                line = line[:-1] + "\n "
                continue
            if line.strip() in (":quit", ":q"):
                return
            kept = list(session.definitions)
            try:
                print(session.answer(line.strip().replace("\0", "\ufffd")), end="")
            except KeyboardInterrupt:
                session.definitions = kept
                print("interrupted")
            line = ""
