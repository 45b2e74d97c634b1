"""The command-line tool: `python -m permc VERB ARGUMENTS...`, `torchrun -m permc run ...`."""

import os
import sys

from . import _permc, _ranks

sys.exit(_permc.main([os.fsencode(word) for word in sys.argv], _ranks.connect_torchrun))
