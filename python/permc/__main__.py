"""The command-line tool: `python -m permc VERB ARGUMENTS...`, `torchrun -m permc run ...`. Besides,
`python -m permc repl [FILE]` reads definitions and expressions one after the other, and
`python -m permc lsp` is the language server."""

import os
import sys

from . import _permc, _ranks

if sys.argv[1:2] == ["repl"]:
    from . import repl
    sys.exit(repl.main(sys.argv[2:]))
if sys.argv[1:] == ["lsp"]:
    try:
        from . import lsp
    except ModuleNotFoundError as missing:
        sys.exit(f"permc: {missing} (pip install 'permc[lsp]')")
    sys.exit(lsp.main())

sys.exit(_permc.main([os.fsencode(word) for word in sys.argv], _ranks.connect_torchrun))
