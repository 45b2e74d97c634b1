#!/bin/sh
# stale_names.sh
# Names in comments and documents that are nowhere: `plan.c` or `plan/passes.c` where no file's path
# ends so, and words such as plan_make that no line of code has. What is meant to be no name of this
# tree stands in stale_names.txt beside this script.
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
cd "$tools/../.."
out=${PERMC_TMP:-/tmp}
{
  find . -path ./build -prune -o -path ./.git -prune -o -type f -print | sed 's/^\.\///'
  # What the build makes.
  printf '%s\n' generated/parser.c generated/parser.h generated/lexer.c generated/lexer.h
} >"$out/files"
grep -E '\.(c|h|y|l|inc)$' "$out/files" | grep -vE '^(tests/golden|generated)/' >"$out/sources"
{
  cat "$out/sources"
  grep -E '^(README|CONTRIBUTING|docs/[a-z]*)\.md$' "$out/files"
  grep -E '\.(perm|sh|py|cu|cuh|cpp|cmake)$|CMakeLists\.txt$' "$out/files" | grep -v '^tests/golden/'
} >"$out/texts"
# shellcheck disable=SC2046  # names have no blanks
awk -v files="$out/files" -v allowed="$tools/stale_names.txt" '
  # Code and comment of a line; `inside`: a block comment of C, or an example of a document.
  function split_line(line,   i, two) {
    code = comment = ""
    if (FILENAME !~ /\.(c|h|y|l|inc|md)$/) {
      code = line
      return
    }
    if (FILENAME ~ /\.md$/) {
      if (line ~ /^ *```/)
        inside = !inside
      else if (inside)
        code = line
      else
        comment = line
      return
    }
    for (i = 1; i <= length(line); i++) {
      two = substr(line, i, 2)
      if (inside) {
        if (two == "*/") {
          inside = 0
          i++
        } else
          comment = comment substr(line, i, 1)
      } else if (two == "//") {
        comment = comment substr(line, i + 2)
        return
      } else if (two == "/*") {
        inside = 1
        i++
      } else if (substr(line, i, 1) == "\"") {
        i = end_of_string(line, i)
      } else
        code = code substr(line, i, 1)
    }
  }
  function end_of_string(line, i,   from) {
    from = i
    for (i++; i <= length(line) && substr(line, i, 1) != "\""; i++)
      if (substr(line, i, 1) == "\\")
        i++
    code = code " " substr(line, from, i - from + 1) " "
    return i
  }
  function note(where, word, what) {
    place[++count] = where
    named[count] = word
    kind[count] = what
  }
  BEGIN {
    while ((getline path <files) > 0) {
      stem = path
      gsub(/^.*\/|\.[a-z]*$/, "", stem)
      is_name[stem] = 1
      while (1) {
        known[path] = 1
        if (!sub(/^[^\/]*\//, "", path))
          break
      }
    }
    while ((getline line <allowed) > 0) {
      sub(/#.*/, "", line)
      n = split(line, words, " ")
      for (i = 1; i <= n; i++)
        known[words[i]] = is_name[words[i]] = 1
    }
  }
  FNR == 1 { inside = 0 }
  {
    split_line($0)
    rest = code
    while (match(rest, /[A-Za-z_][A-Za-z_0-9]*/)) {
      is_name[substr(rest, RSTART, RLENGTH)] = 1
      rest = substr(rest, RSTART + RLENGTH)
    }
    rest = comment
    while (match(rest, /[A-Za-z_0-9.\/*-]*[A-Za-z_0-9*]/)) {
      word = substr(rest, RSTART, RLENGTH)
      rest = substr(rest, RSTART + RLENGTH)
      if (word ~ /\*|^\./)
        continue
      if (word ~ /\.(c|h|y|l|inc|perm|sh|py|cmake|md)$/)
        note(FILENAME ":" FNR, word, "file")
      else if (word ~ /^[a-z][a-z0-9]*(_[a-z0-9]+)*_[a-z0-9][a-z0-9]+$/)  # x_1 is mathematics
        note(FILENAME ":" FNR, word, "name")
    }
  }
  END {
    bad = 0
    for (i = 1; i <= count; i++) {
      sub(/^\.\//, "", named[i])
      if (kind[i] == "file" ? !(named[i] in known) : !(named[i] in is_name)) {
        print place[i] ": there is no " kind[i] " " named[i]
        bad++
      }
    }
    print (bad ? 0 : 1) " passed, " (bad ? 1 : 0) " failed, 0 skipped"
    exit bad > 0
  }' $(cat "$out/texts")
