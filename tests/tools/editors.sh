#!/bin/sh
# editors.sh PERMC SOURCE_ROOT
# Completions of the shells that are here: after some words, the words that come. The syntax files of
# editors have the words of the language: keywords, types, builtins and scalar operations.
set -eu
permc=$(readlink -f "${1:-$PERMC}")
root=$(cd "${2:-.}" && pwd)
folder=${PERMC_TMP:-$(mktemp -d)}/editors
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/empty"
ln -s "$permc" "$folder/bin/permc"
PATH=$folder/bin:$PATH
# shellcheck source=tests/tools/checks.sh
. "$(dirname "$0")/checks.sh"

# ---- words ------------------------------------------------------------------------------------------

{
  sed -n '/^} keywords\[\]/,/;$/p' "$root/lang/syntax/lexer.l" | grep -o '"[a-z]*"' | tr -d '"'
  sed -n 's/^ *\[SCALAR_[A-Z0-9]*\] = {"\([a-z0-9]*\)".*/\1/p' "$root/core/scalar/types.c"
  echo int
  sed -n '/^static const builtin rows/,/^};/s/^ *{"\([^"]*\)".*/\1/p' "$root/lang/elaborate/builtins.c"
  sed -n 's/^ *ROW([A-Z0-9_]*, "\([^"]*\)".*/\1/p' "$root/core/scalar/scalar.h"
} | grep '^[a-z]' | LC_ALL=C sort -u >"$folder/words"
sed -n 's/^syntax keyword perm\(Keyword\|Boolean\|Type\|Builtin\) //p' "$root/editors/vim/syntax/perm.vim" |
  tr ' ' '\n' | LC_ALL=C sort -u >"$folder/vim"
sed -n 's/.*"\\\\b(?:\(let|[^)]*\|true|[^)]*\|bool|[^)]*\|abs|[^)]*\))\\\\b.*/\1/p' \
  "$root/editors/vscode/syntaxes/perm.tmLanguage.json" | tr '|' '\n' | LC_ALL=C sort -u >"$folder/vscode"
for editor in vim vscode; do
  if diff "$folder/words" "$folder/$editor"; then pass; else fail "the words of $editor are not those of the language"; fi
done
for file in "$root"/editors/vscode/*.json "$root"/editors/vscode/syntaxes/*.json; do
  if command -v python3 >/dev/null; then
    if python3 -m json.tool "$file" >/dev/null; then pass; else fail "$file is no JSON"; fi
  fi
done

# ---- Vim: the group of the word at a place -------------------------------------------------------------

if command -v vim >/dev/null && vim --version | grep -q '+syntax'; then
  cat >"$folder/a.perm" <<'END'
-- A comment.
main : [2^n]i32 -> [2^n]i32
main xs = let m = 0x1f in map (\x -> if x < m then sort12 x else 1.5f32) xs
-- ==
END
  groups() {
    for place in "$@"; do
      echo "call add(found, synIDattr(synID(${place%:*}, ${place#*:}, 1), 'name'))"
    done
  }
  {
    echo "set runtimepath^=$root/editors/vim"
    printf 'filetype on\nsyntax on\nedit %s\nlet found = [&filetype]\n' "$folder/a.perm"
    groups 1:4 2:1 2:13 3:11 3:19 3:27 3:35 3:47 3:66 4:4
    printf 'call writefile(found, "%s")\nqall!\n' "$folder/groups"
  } >"$folder/vimrc"
  # Silent, it ends with 1. Without what it writes the next line fails.
  vim -N -u NONE -i NONE -es -S "$folder/vimrc" </dev/null >/dev/null 2>&1 || :
  same "$(tr '\n' ' ' <"$folder/groups")" \
    "perm permComment permSignature permType permKeyword permNumber permBuiltin permOperator permKeyword permNumber permTest "
else
  skip "there is no Vim with syntax"
fi

# ---- completions --------------------------------------------------------------------------------------

# LINE=WORDS: what may stand in the place of the line's last word.
cases='permc ex=explain
permc help dr=draw
permc run --ba=--backend
permc run --backend c=cpu cuda
permc run --strategy tile+=tile+banks tile+banks+iters
permc explain --target avx=avx2 avx512
permc run --fast-fp --st=--strategy --strict-fp'
try() { # try SHELL COMMAND: the command gets the line, and prints the words
  if ! command -v "$1" >/dev/null; then
    skip "there is no $1"
    return
  fi
  while IFS= read -r row; do
    same "$1: $("$2" "${row%%=*}" | tr ' ' '\n' | LC_ALL=C sort | tr '\n' ' ')" "$1: ${row#*=} "
  done <<END
$cases
END
}
in_bash() {
  bash --norc -c '. "$1/editors/permc.bash"
    read -ra COMP_WORDS <<<"$2"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _permc; echo "${COMPREPLY[@]}"' \
    bash "$root" "$1"
}
in_fish() {
  HOME=$folder/empty fish --no-config -c "source $root/editors/permc.fish; complete -C '$1'" | sed 's/\t.*//'
}
# In zsh the functions that add words are replaced by ones that print them.
in_zsh() {
  zsh -f -c '
    words=(${(z)2}) CURRENT=$#words PREFIX=$words[-1]
    say() { print -rl -- ${(M)@:#$PREFIX*} }
    _describe() { say ${(P)2%%:*} }
    compadd() { shift; say "$@" }
    compset() { PREFIX=${PREFIX#*=} }
    _files() {}
    _permc() { . $1/editors/_permc }
    _permc $1' zsh "$root" "$1"
}
try bash in_bash
try fish in_fish
try zsh in_zsh
tally
