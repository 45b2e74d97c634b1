#!/bin/sh
# perm.sh PATH...
# `permc test PATH...`: the test blocks of the programs there. Its last line is the counts already.
set -eu
exec "$PERMC" test --allow-extern "$@"
