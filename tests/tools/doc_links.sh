#!/bin/sh
# doc_links.sh SOURCE_ROOT
# In README.md, CONTRIBUTING.md, CHANGELOG.md, bench/README.md and docs/*.md: each link to a file of the sources
# leads to a file, each #anchor to a heading, each `folder/file.c` or `folder/` is there, and lines
# have at most 100 characters, except in tables and in blocks of code. A reference such as
# docs/NAME.md, "HEADING" in a source file or the man page names a document and a heading that
# exist.
set -eu
cd "$1"
folder=${PERMC_TMP:-$(mktemp -d)}/doc_links
mkdir -p "$folder"

# FILE#anchor and FILE, and FILE"HEADING", of everything that can be linked to.
LC_ALL=C awk '
  FNR == 1 { print FILENAME; fence = 0 }
  /^```/ { fence = !fence }
  !fence && /^#+ / {
    sub(/^#+ /, "")
    print FILENAME "\"" $0
    anchor = tolower($0)
    gsub(/[^a-z0-9 _-]/, "", anchor)
    gsub(/ /, "-", anchor)
    print FILENAME "#" anchor
  }' README.md CONTRIBUTING.md CHANGELOG.md bench/README.md docs/*.md >"$folder/targets"
folders="core lang fusion kernels runtime tool stdlib tests examples bench docs editors cmake python"
{
  echo LICENSE
  find $folders
  find $folders -type d | sed 's|$|/|'
} >>"$folder/targets"

# PLACE: LINK, the link relative to the root; and lines that are too long.
LC_ALL=C awk '
  FNR == 1 { here = FILENAME; sub(/[^\/]*$/, "", here); fence = 0 }
  /^```/ { fence = !fence }
  fence || /^    / { next }
  {
    characters = $0
    gsub(/[\200-\277]/, "", characters)
    if (length(characters) > 100 && !/^\|/)
      print FILENAME ":" FNR ": (more than 100 characters)"
    rest = $0
    while (match(rest, /`[^`]*`/)) {
      path = substr(rest, RSTART + 1, RLENGTH - 2)
      rest = substr(rest, 1, RSTART - 1) " " substr(rest, RSTART + RLENGTH)
      if (path ~ /^(core|lang|fusion|kernels|runtime|tool|stdlib|tests|examples|bench|docs|editors)\/[a-z0-9_.\/]*$/)
        print FILENAME ":" FNR ": " path
    }
    while (match(rest, /\]\([^)]*\)/)) {
      link = substr(rest, RSTART + 2, RLENGTH - 3)
      rest = substr(rest, RSTART + RLENGTH)
      if (link ~ /^https?:/) continue
      link = link ~ /^#/ ? FILENAME link : here link
      sub(/^(docs|bench)\/\.\.\//, "", link)
      print FILENAME ":" FNR ": " link
    }
  }' README.md CONTRIBUTING.md CHANGELOG.md bench/README.md docs/*.md >"$folder/links"

# Of sources: docs/NAME.md, and the heading in quotes behind it, which may be on the next line.
find $folders -name '*.[chly1]' -o -name '*.inc' -o -name '*.perm' -o -name '*.sh' -o -name '*.py' |
  grep -v 'doc_links.sh' | while read -r file; do
  LC_ALL=C awk -v file="$file" '
    { gsub(/^[ \t]*(\/\/|#|--)[ \t]*/, ""); text = text " " $0 }
    END {
      while (match(text, /(docs|bench)\/[a-zA-Z-]+\.md(, "[^"]*")?/)) {
        link = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (sub(/, "/, "\"", link)) sub(/"$/, "", link)
        print file ": " link
      }
    }' "$file"
done >>"$folder/links"

awk -v links="$folder/links" '
  { known[$0] }
  END {
    while ((getline line < links) > 0) {
      link = line
      sub(/^[^ ]*: /, "", link)
      if (link in known) passed++
      else { failed++; print line ": no such file or heading" }
    }
    print passed + 0 " passed, " failed + 0 " failed, 0 skipped"
    exit failed > 0
  }' "$folder/targets"
