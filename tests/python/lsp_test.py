"""The language server, by pygls's client, which starts it as an editor does. Run with the package's
folder on PYTHONPATH. The last line counts: N passed, N failed, N skipped."""

import asyncio
import pathlib
import sys
import tempfile

try:
    import numpy
    import permc
    from lsprotocol import types
    from pygls.lsp.client import LanguageClient
except ModuleNotFoundError as missing:
    print(f"skipped: {missing}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

PROGRAM = """import "lib.perm"

half : [2^n]a -> []a
half xs = take (2^n / 2) xs

main : [2^n]f32 -> []f32
main xs = map (\\x -> twice x  + 1) (half xs)  -- 𝔽 half
"""
WRONG = PROGRAM.replace("(half xs)", "(halve xs)")
ABSENT = PROGRAM.replace("lib", "𝔽𝔽")  # two units of UTF-16 each


async def session(folder, check):
    path, lib = folder / "a.perm", folder / "lib.perm"
    path.write_text(WRONG)
    lib.write_text("twice x = x * 2\n")
    client, told = LanguageClient("test", "1"), asyncio.Queue()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def take(params):
        told.put_nowait(params)

    await client.start_io(sys.executable, "-m", "permc", "lsp")
    answer = await client.initialize_async(types.InitializeParams(
        capabilities=types.ClientCapabilities(), root_uri=folder.as_uri()))
    check("what it does", answer.capabilities.hover_provider and
          answer.capabilities.definition_provider and
          answer.capabilities.document_formatting_provider)
    client.initialized(types.InitializedParams())
    document = types.TextDocumentIdentifier(path.as_uri())

    def at(word, line):
        return types.Position(line, PROGRAM.splitlines()[line].index(word))

    client.text_document_did_open(types.DidOpenTextDocumentParams(
        types.TextDocumentItem(path.as_uri(), "perm", 1, WRONG)))
    wrong = (await asyncio.wait_for(told.get(), 60)).diagnostics
    check("a mistake", [(d.range.start.line, d.range.start.character, d.range.end.character)
                        for d in wrong] == [(6, 36, 41)])
    check("its words", "'halve' is not defined" in wrong[0].message and
          "hint: a name comes from" in wrong[0].message)

    async def saved(text, version):
        path.write_text(text)
        client.text_document_did_change(types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version, path.as_uri()),
            [types.TextDocumentContentChangeWholeDocument(text)]))
        client.text_document_did_save(types.DidSaveTextDocumentParams(document))
        return (await asyncio.wait_for(told.get(), 60)).diagnostics

    absent = await saved(ABSENT, 2)
    check("columns in units of UTF-16", [(d.range.start.character, d.range.end.character)
                                         for d in absent] == [(0, 18)])
    check("none", not await saved(PROGRAM, 3))

    async def hovered(word, line):
        found = await client.text_document_hover_async(types.HoverParams(document, at(word, line)))
        return found and found.contents.value

    check("a signature", "half : [2^n]a -> []a" in await hovered("half", 6))
    check("an inferred type", "twice : t1 -> t1" in await hovered("twice", 6))
    line = PROGRAM.splitlines()[6]
    behind = types.Position(6, len(line[:line.rindex("half")].encode("utf-16-le")) // 2)
    told_of = await client.text_document_hover_async(types.HoverParams(document, behind))
    check("a name behind such", "half : [2^n]a -> []a" in told_of.contents.value)
    check("a builtin", "map  : (a -> b) -> []a -> []b" in await hovered("map", 6))
    check("no name", await client.text_document_hover_async(
        types.HoverParams(document, types.Position(1, 0))) is None)

    async def defined(word, line):
        return await client.text_document_definition_async(
            types.DefinitionParams(document, at(word, line)))

    here, there = await defined("half", 6), await defined("twice", 6)
    check("a definition", (here.uri, here.range.start.line) == (path.as_uri(), 2))
    check("an imported one", (there.uri, there.range.start.line) == (lib.as_uri(), 0))
    check("none of the library", await defined("map", 6) is None)
    edits = await client.text_document_formatting_async(types.DocumentFormattingParams(
        document, types.FormattingOptions(2, True)))
    check("its layout", len(edits) == 1 and "twice x + 1" in edits[0].new_text)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


def main():
    counts = {"passed": 0, "failed": 0}

    def check(what, holds):
        counts["passed" if holds else "failed"] += 1
        if not holds:
            print(f"{what}: it is not so")

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(asyncio.wait_for(session(pathlib.Path(folder).resolve(), check), 100))
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    sys.exit(counts["failed"] != 0)


if __name__ == "__main__":
    main()
