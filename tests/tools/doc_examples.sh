#!/bin/sh
# doc_examples.sh PERMC SOURCE_ROOT
# Runs every example of docs/language.md.
#
#   ```perm      a file of its own, whose test blocks run. Its lines keep their numbers, so that a
#                failure names the line of the page. A block without a test is a failure.
#   ```message   what `permc check example.perm` says about the block before it, to the letter
#   ```explain   a call of `permc explain example.perm`, and what it says of the block before it, but
#                for the time that planning took
set -eu
case $1 in
/*) permc=$1 ;;
*) permc=$PWD/$1 ;;
esac
page=$2/docs/language.md
folder=${PERMC_TMP:-$(mktemp -d)}/examples
rm -rf "$folder"
mkdir -p "$folder/tests" "$folder/messages"

# messages/N/example.perm, messages/N/arguments and messages/N/expected, for each message.
awk -v folder="$folder" '
  function begin_program() {
    program = ""; tests = 0; kind = "perm"
    file = sprintf("%s/tests/line_%04d.perm", folder, NR)
    for (i = 0; i < NR; i++) print "" > file
  }
  function end_block() {
    if (kind == "perm") {
      close(file)
      if (!tests) { untested++; print "language.md:" NR ": the example that ends here has no test" > "/dev/stderr" }
    } else {
      into = folder "/messages/" first
      system("mkdir -p " into)
      printf "%s", program > (into "/example.perm")
      print arguments > (into "/arguments")
      printf "%s", message > (into "/expected")
      close(into "/example.perm"); close(into "/arguments"); close(into "/expected")
    }
    kind = ""
  }
  /^```perm$/ { begin_program(); next }
  /^```message$/ { kind = "message"; message = ""; arguments = "check example.perm"; first = NR; next }
  /^```explain$/ { kind = "explain"; message = ""; arguments = ""; first = NR; next }
  /^```/ && kind { end_block(); next }
  /^```/ { next }
  kind == "perm" { print > file; program = program $0 "\n"; tests += /^-- ==/ }
  kind == "explain" && !arguments { arguments = $0; sub(/^permc /, "", arguments); next }
  kind == "message" || kind == "explain" { message = message $0 "\n" }
  END { print untested + 0 > (folder "/untested") }
' "$page"

status=0
"$permc" test --allow-extern "$folder/tests" >"$folder/log" 2>&1 || status=$?
failed=$(cat "$folder/untested")
[ "$status" -eq 0 ] || cat "$folder/log"
counts=$(tail -n 1 "$folder/log")
case $counts in
*" passed, "*" failed, "*" skipped")
  passed=${counts%% passed*}
  rest=${counts#* passed, }
  failed=$((failed + ${rest%% failed*}))
  skipped=${rest#* failed, }
  skipped=${skipped%% skipped*}
  ;;
*) passed=0 skipped=0 ;;
esac
if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi

for message in "$folder"/messages/*/expected; do
  line=${message%/expected}
  (cd "$line" && xargs "$permc" <arguments 2>&1 | sed 's/^planned in .*/planned in .../' >found) || true
  if cmp -s "$line/found" "$message"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "language.md:${line##*/}: what permc says has changed"
    diff "$message" "$line/found" || true
  fi
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
