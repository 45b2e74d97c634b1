"""A language server for .perm: `python -m permc lsp`, with pip install 'permc[lsp]'.

An editor starts it and talks to it on standard input and output. Programs are checked when they are
opened and saved, by `permc check --json`, so an editor shows the messages that the tool prints. Hovering
over a name shows its type, or what `permc help` says of it. Definitions of a program are found in
its text, and in the files that it imports."""

import functools
import json
import pathlib
import re

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from ._call import permc

server = LanguageServer("permc", "0.2.0")

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_']*|[-+*/%^&|<>=!~.]+")


def diagnostics(path, codec):
    """Those of each file that is concerned, by its path; of this one in any case. The tool counts
    characters; the codec makes of them what the editor counts, as a rule units of UTF-16."""
    of_files = {path: []}

    @functools.cache
    def lines_of(file):
        return (path.parent / file).read_text(errors="replace").splitlines()

    def range_of(found):
        places = types.Range(types.Position(found["line"] - 1, found["column"] - 1),
                             types.Position(found["end_line"] - 1, found["end_column"] - 1))
        return codec.range_to_client_units(lines_of(found["file"]), places)

    said, _, _ = permc("check", "--json", path.name, cwd=path.parent)
    for found in json.loads(said or '{"diagnostics": []}')["diagnostics"]:
        if "file" not in found:
            continue
        words = "\n".join([found["message"], *("hint: " + line for line in found["help"])])
        diagnostic = types.Diagnostic(
            range_of(found), words, getattr(types.DiagnosticSeverity, found["severity"].title()),
            source="permc", related_information=[
                types.DiagnosticRelatedInformation(
                    types.Location(from_fs_path(str(path.parent / note["file"])), range_of(note)),
                    note["message"]) for note in found["notes"] if "file" in note])
        of_files.setdefault(path.parent / found["file"], []).append(diagnostic)
    return of_files


def name_at(document, position):
    lines = document.lines
    if position.line >= len(lines):
        return None
    place = document.position_codec.position_from_client_units(lines, position).character
    for word in NAME.finditer(lines[position.line]):
        if word.start() <= place <= word.end():
            return word[0]
    return None


def type_of(path, lines, name):
    """The type of a name of the program: its signature, or what is inferred, which the tool says
    where such a function is to be run."""
    for line in lines:
        if re.match(re.escape(name) + r" *: ", line):
            return line.strip()
    _, said, _ = permc("explain", path.name, "--entry", name, cwd=path.parent)
    inferred = re.search(r"no signature\nhint: .*, such as '(.*)'$", said, re.M)
    return inferred and inferred[1]


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
@server.feature(types.TEXT_DOCUMENT_DID_SAVE)
def check(ls, params):
    path = pathlib.Path(to_fs_path(params.text_document.uri))
    for file, found in diagnostics(path, ls.workspace.position_codec).items():
        ls.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(from_fs_path(str(file)), found))


@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(ls, params):
    document = ls.workspace.get_text_document(params.text_document.uri)
    name = name_at(document, params.position)
    if name is None:
        return None
    path = pathlib.Path(document.path)
    said = type_of(path, document.lines, name)
    if said is None:
        helped, _, status = permc("help", name)
        said = helped if status == 0 else None
    return said and types.Hover(types.MarkupContent(types.MarkupKind.Markdown,
                                                    f"```perm\n{said.rstrip()}\n```"))


@server.feature(types.TEXT_DOCUMENT_DEFINITION)
def definition(ls, params):
    document = ls.workspace.get_text_document(params.text_document.uri)
    name = name_at(document, params.position)
    files, seen = [pathlib.Path(document.path)], set()
    while name and files:
        path = files.pop().resolve()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        lines = document.lines if len(seen) == 1 else path.read_text(errors="replace").splitlines()
        for number, line in enumerate(lines):
            imported = re.match(r'import\s+"([^"]+)"', line)
            if imported:
                files.append(path.parent / imported[1])
            found = re.match(re.escape(name) + r"(?![A-Za-z0-9_'])", line)
            if found:
                start = types.Position(number, 0)
                return types.Location(from_fs_path(str(path)),
                                      types.Range(start, types.Position(number, found.end())))
    return None


@server.feature(types.TEXT_DOCUMENT_FORMATTING)
def layout(ls, params):
    document = ls.workspace.get_text_document(params.text_document.uri)
    text, _, status = permc("fmt", "-", given=document.source)
    if status != 0 or text == document.source:
        return None
    whole = types.Range(types.Position(0, 0), types.Position(len(document.lines), 0))
    return [types.TextEdit(whole, text)]


def main():
    server.start_io()
