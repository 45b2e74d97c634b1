#!/bin/sh
# mutants.sh [all]
# Checks damaged programs: a file of stdlib/ in one line of which a token was dropped, doubled or
# swapped with its right neighbour. One program for each second line of code, of one damage in turn,
# at a token that the line's number chooses; where the build is slow, for each third line; with
# `all`, of each damage at every token of each line (minutes).
# Each must end, with status 0 (the damage did not matter), or with status 1 and an error
# that shows its place with a caret; and nothing it prints may hold a word of internal_names.txt.
# Environment: PERMC, PERMC_TMP, PERMC_SLOWER.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
mode=${1:-sample}
every=2
[ "${PERMC_SLOWER:-1}" -eq 1 ] || every=3
limit=$((60 * ${PERMC_SLOWER:-1}))  # seconds, against hangs only
cd "$PERMC_TMP" || exit 1

# mutate FIRST LAST: writes the programs for lines of code number FIRST to LAST, and prints how many
# lines there are.
mutate() {
  awk -v from="$1" -v to="$2" -v mode="$mode" -v every="$every" '
    # Splits a line into tokens and the spaces between them: token[i], space[i] before it. The
    # comment at its end is one token more, which is left alone.
    function split_line(line,    n) {
      n = 0
      while (line != "") {
        match(line, /^[ ]*/)
        space[++n] = substr(line, 1, RLENGTH)
        line = substr(line, RLENGTH + 1)
        if (!match(line, /^(--.*|[A-Za-z0-9_]+|"[^"]*"|[-+*\/%=<>|&^~.!:]+)/)) RLENGTH = 1
        token[n] = substr(line, 1, RLENGTH)
        line = substr(line, RLENGTH + 1)
      }
      space[n + 1] = token[n + 1] = ""
      return token[n] ~ /^--/ ? n - 1 : n
    }
    function damaged(n, chosen, kind,    i, line) {
      line = ""
      for (i = 1; i <= n + 1; i++) {
        if (kind == "swap" && i == chosen && i < n) {
          line = line space[i] token[i + 1] space[i + 1] token[i]
          i++
        } else if (!(kind == "drop" && i == chosen)) {
          line = line space[i] token[i]
          if (kind == "double" && i == chosen) line = line " " token[i]
        }
      }
      return line
    }
    function write_program(at, changed, name,    i) {
      for (i = first[file_of[at]]; i <= last[file_of[at]]; i++)
        print (i == at ? changed : text[i]) > name
      close(name)
    }
    FNR == 1 { files++; first[files] = NR }
    { text[NR] = $0; file_of[NR] = files; last[files] = NR }
    /[^ ]/ && !/^ *--/ { code[++lines] = NR }
    END {
      split("drop double swap", kinds, " ")
      for (l = from; l <= to && l <= lines; l++) {
        n = split_line(text[code[l]])
        for (chosen = 1; chosen <= n; chosen++)
          for (k = 1; k <= 3; k++) {
            if (mode != "all" && (l % every || k != l / every % 3 + 1)) continue
            if (mode != "all" && chosen != (l * 16807 + k * 7919) % n + 1) continue
            write_program(code[l], damaged(n, chosen, kinds[k]),
                          sprintf("line%03d_%02d_%s.perm", l, chosen, kinds[k]))
          }
      }
      print lines
    }' "$root"/stdlib/*.perm
}

passed=0
failed=0
refused=0
check() { # check FILE
  rc=0
  timeout "$limit" "$PERMC" check "$1" >output 2>&1 || rc=$?
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
    cp "$1" "kept_$1"
    echo "$PERMC_TMP/kept_$1: $complaint"
    head -n 12 output
  else
    passed=$((passed + 1))
  fi
}

lines=$(mutate 1 0)
line=1
while [ "$line" -le "$lines" ]; do
  mutate "$line" $((line + 9)) >count
  for file in line*.perm; do
    [ ! -e "$file" ] || check "$file"  # of few lines there may be none
  done
  rm -f line*.perm
  line=$((line + 10))
done
echo "$refused of $((passed + failed)) mutants were refused"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ] && [ "$passed" -ge 200 ]
