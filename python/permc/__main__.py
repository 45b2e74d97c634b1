"""The command-line tool: `python -m permc VERB ARGUMENTS...`, `torchrun -m permc run ...`; and
`python -m permc lsp`, the language server."""

import os
import sys

from . import _permc, _ranks

if sys.argv[1:] == ["lsp"]:
    try:
        from . import lsp
    except ModuleNotFoundError as missing:
        sys.exit(f"permc: {missing} (pip install 'permc[lsp]')")
    lsp.main()
    sys.exit()

sys.exit(_permc.main([os.fsencode(word) for word in sys.argv], _ranks.connect_torchrun))
