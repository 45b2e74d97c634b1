#!/bin/sh
# mutants.sh [COUNT]
# Checks COUNT (200) damaged programs: a file of stdlib/ in one line of which a token was dropped,
# doubled or swapped with its right neighbour; the lines are spread over the whole library. Each must
# end within 5 s, with status 0 (the damage did not matter), or with status 1 and an error that shows
# its place with a caret; and nothing it prints may hold a word of internal_names.txt.
# Environment: PERMC, PERMC_TMP, PERMC_SLOWER.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
count=${1:-200}
limit=$((5 * ${PERMC_SLOWER:-1}))
cd "$PERMC_TMP" || exit 1

# One mutant for each place k of COUNT evenly spaced among the lines of code.
awk -v count="$count" '
  # Splits a line into tokens and the spaces between them: token[i], space[i] before it.
  function split_line(line,    n, length_of) {
    n = 0
    while (line != "") {
      match(line, /^[ ]*/)
      space[++n] = substr(line, 1, RLENGTH)
      line = substr(line, RLENGTH + 1)
      if (!match(line, /^([A-Za-z0-9_]+|"[^"]*"|[-+*\/%=<>|&^~.!:]+)/)) RLENGTH = 1
      token[n] = substr(line, 1, RLENGTH)
      line = substr(line, RLENGTH + 1)
    }
    return n
  }
  function random(below) {
    seed = (seed * 16807) % 2147483647
    return seed % below
  }
  FNR == 1 { files++; first[files] = NR }
  { text[NR] = $0; file_of[NR] = files; last[files] = NR }
  /[^ ]/ && !/^ *--/ { code[++lines] = NR }
  END {
    seed = 20261121
    for (k = 0; k < count; k++) {
      at = code[int(k * lines / count) + 1]
      n = split_line(text[at])
      chosen = random(n) + 1
      kind = k % 3
      changed = ""
      for (i = 1; i <= n; i++) {
        if (kind == 2 && i == chosen && i < n) {
          changed = changed space[i] token[i + 1] space[i + 1] token[i]
          i++
        } else if (!(kind == 0 && i == chosen)) {
          changed = changed space[i] token[i]
          if (kind == 1 && i == chosen) changed = changed " " token[i]
        }
      }
      name = sprintf("mutant_%04d.perm", k)
      for (i = first[file_of[at]]; i <= last[file_of[at]]; i++)
        print (i == at ? changed : text[i]) > name
      close(name)
    }
  }' "$root"/stdlib/*.perm

passed=0
failed=0
refused=0
for file in mutant_*.perm; do
  rc=0
  timeout "$limit" "$PERMC" check "$file" >output 2>&1 || rc=$?
  complaint=
  case $rc in
  0) ;;
  1)
    refused=$((refused + 1))
    grep -q "^[^ ]*\.perm:[0-9]*:[0-9]*: error: " output || complaint="no error with a place"
    grep -q '^[ |]*\^' output || complaint="no caret"
    ;;
  124) complaint="still running after $limit s" ;;
  *) complaint="exit status $rc" ;;
  esac
  if grep -v '^ ' output | grep -nwFf "$root/tests/tools/internal_names.txt"; then
    complaint="an internal name in a message"
  fi
  if [ -n "$complaint" ]; then
    failed=$((failed + 1))
    cp "$file" "kept_$file"
    echo "$PERMC_TMP/kept_$file: $complaint"
    head -n 12 output
  else
    passed=$((passed + 1))
  fi
done
echo "$refused of $((passed + failed)) mutants were refused"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ] && [ "$passed" -eq "$count" ]
