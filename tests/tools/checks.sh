# shellcheck shell=sh
# checks.sh, which other scripts of this folder read: what they count, compare, and say at the end.
#
#   . "$(dirname "$0")/checks.sh"
#   same "$(cat found)" "3 4"
#   none "names that are there twice" twice
#   tally                                    its status is the script's
#   taken || continue                        of the rows of tables some, where the build is slow
passed=0 failed=0 skipped=0
row=0

pass() { passed=$((passed + 1)); }
fail() { # fail TEXT
  failed=$((failed + 1))
  echo "$1"
}
skip() { # skip WHY
  skipped=$((skipped + 1))
  echo "skipped: $1"
}
same() { # same FOUND EXPECTED
  if [ "$1" = "$2" ]; then
    pass
  else
    fail "found $1
expected $2"
  fi
}
none() { # none TEXT FILE: FILE shall have no lines
  if [ -s "$2" ]; then
    fail "$1:"
    sed 's/^/  /' "$2"
  else
    pass
  fi
}
# One row in four where the build is slow; all of them with PERMC_ALL.
taken() {
  row=$((row + 1))
  [ "${PERMC_ALL:-}" ] || [ "${PERMC_SLOWER:-1}" -eq 1 ] || [ $((row % 4)) -eq 0 ]
}
block() { # block FILE LANGUAGE NUMBER: that block of code of a page
  awk -v fence="\`\`\`$2" -v wanted="$3" '
    $0 == fence && ++count == wanted { on = 1; next }
    /^```/ { on = 0 }
    on' "$1"
}
tally() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
}
