#!/bin/sh
# doc_examples.sh PERMC SOURCE_ROOT
# Runs every example of docs/guide.md and docs/reference.md.
#
#   ```perm      a file of its own, whose test blocks run. Its lines keep their numbers, so that a
#                failure names the line of the page. A block without a test is a failure.
#   ```message   the output of `permc check example.perm` for the perm block before it
#   ```explain   a call of `permc explain example.perm` and its output for the perm block before it,
#                except for the time that planning took
#   ```console   `$ COMMAND` and its output; a file NAME.perm in the command is the perm block before
#                it
#   ```csv FILE  a file for the outputs after it on the page
set -eu
case $1 in
/*) permc=$1 ;;
*) permc=$PWD/$1 ;;
esac
docs=$2/docs
folder=${PERMC_TMP:-$(mktemp -d)}/examples
rm -rf "$folder"
mkdir -p "$folder/tests" "$folder/outputs" "$folder/bin"
ln -s "$permc" "$folder/bin/permc"
PATH=$folder/bin:$PATH

# tests/PAGE_LINE.perm for each program; outputs/PAGE:LINE/{example.perm,command,expected} for each
# output.
for page in guide reference; do
  awk -v folder="$folder" -v page="$page" '
    function begin_program() {
      program = ""; tests = 0; kind = "perm"
      file = sprintf("%s/tests/%s_%04d.perm", folder, page, NR)
      for (i = 1; i <= NR; i++) print "" > file
    }
    function begin_output(what) { kind = what; output = ""; command = ""; first = NR }
    function end_output(   into) {
      into = folder "/outputs/" page ".md:" first
      system("mkdir -p " into)
      printf "%s", program > (into "/example.perm")
      print command > (into "/command")
      printf "%s", output > (into "/expected")
      close(into "/example.perm"); close(into "/command"); close(into "/expected")
      for (name in data) {
        printf "%s", data[name] > (into "/" name)
        close(into "/" name)
      }
    }
    function end_block() {
      if (kind == "csv") data[file] = output
      else if (kind != "perm") end_output()
      else {
        close(file)
        if (!tests) {
          untested++
          print page ".md:" NR ": the example that ends here has no test" > "/dev/stderr"
        }
      }
      kind = ""
    }
    /^```perm$/ { begin_program(); next }
    /^```message$/ { begin_output("message"); command = "permc check example.perm"; next }
    /^```(explain|console)$/ { begin_output(substr($0, 4)); next }
    /^```csv / { kind = "csv"; file = $2; output = ""; next }
    /^```/ && kind { end_block(); next }
    /^```/ { next }
    kind == "perm" { print > file; program = program $0 "\n"; tests += /^-- ==/; next }
    kind == "csv" { output = output $0 "\n"; next }
    kind && !command { command = $0; sub(/^[$] /, "", command); next }
    kind { output = output $0 "\n" }
    END { print untested + 0 > (folder "/untested_" page) }
  ' "$docs/$page.md"
done

status=0
permc test --allow-extern "$folder/tests" >"$folder/log" 2>&1 || status=$?
failed=$(($(cat "$folder/untested_guide") + $(cat "$folder/untested_reference")))
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

for output in "$folder"/outputs/*/expected; do
  place=${output%/expected}
  for name in $(grep -o '[a-z_]*\.perm' "$place/command"); do
    [ -e "$place/$name" ] || cp "$place/example.perm" "$place/$name"
  done
  (cd "$place" && sh ./command 2>&1 | sed 's/^planned in .*/planned in .../' >found) || true
  if cmp -s "$place/found" "$output"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "${place##*/}: the output of permc has changed"
    diff "$output" "$place/found" || true
  fi
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
