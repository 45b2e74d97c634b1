#!/bin/sh
# pages.sh PERMC PAGE
# Prints a page that is made from what the tool and the sources say, so that it cannot differ:
#   command-line   docs/command-line.md, its verbs from `permc help` and `permc help VERB`
#   library        docs/library.md, from the comments of stdlib/ and `permc help NAME`
#   permc.1        the manual page, from the same as command-line
# What stands above the line `<!-- made by ... -->` of a page is written by hand, and kept.
# tests/tools/pages.sh compares the committed pages; the build makes the manual page.
set -eu
permc=$1
page=$2
docs=$(cd "$(dirname "$0")" && pwd)

# What a page has by hand.
head_of() {
  awk '{ print } /^<!-- made by/ { exit }' "$docs/$1.md"
}

# One fact a line, its fields separated by tabulators:
#   verb NAME USAGE SUMMARY,  text LINE,  option NAME ARGUMENT HELP,  example LINE
verbs() {
  "$permc" help | awk '/^  permc [a-z]/ { print $2 }' | while read -r verb; do
    "$permc" help | awk -F '  +' -v verb="$verb" '$2 ~ "^permc " verb "( |$)" { print "verb\t" verb "\t" $NF }'
    "$permc" help "$verb" | awk '
      /^usage: / { sub(/^usage: /, ""); sub(/ +$/, ""); print "usage\t" $0; part = "text"; next }
      /^(options|example):$/ { part = substr($1, 1, length($1) - 1); next }
      part == "option" || part == "options" {
        if (/^  -/) {
          if (name) print name "\t" help
          help = ""
          name = "option\t" $1 "\t"
          rest = substr($0, 3 + length($1))
          if (rest ~ /^ [^ ]/) { name = name $2; rest = substr(rest, 2 + length($2)) }
          sub(/^ +/, "", rest)
          help = rest
        } else if (/^   /) { sub(/^ +/, ""); help = help $0 }
        else { if (name) print name "\t" help; name = ""; part = "" }
        next
      }
      part == "text" && !/^$/ { print "text\t" $0 }
      part == "example" { sub(/^ +/, ""); print "example\t" $0 }
      END { if (name) print name "\t" help }'
  done
}

case $page in
command-line)
  head_of command-line
  # Options that three verbs or more describe alike are in a table of their own.
  verbs | awk -F '\t' '
    function cell(s) { gsub(/\|/, "\\|", s); return s }
    function form(name, argument) { return "`" cell(name (argument == "" ? "" : " " argument)) "`" }
    { lines[NR] = $0 }
    $1 == "option" && $4 !~ /^\.\.\./ { uses[$0]++ }
    function end_part() {
      if (part == "example") print "```"
      if (part == "option" && shared != "") {
        print (own ? "\n" : "") "Options of [several verbs](#options-of-several-verbs):"
        print shared "."
      }
      part = shared = own = ""
    }
    END {
      for (n = 1; n <= NR; n++) {
        $0 = lines[n]
        if ($1 != part) {
          if (!(part == "option" && $1 == "option")) end_part()
          if ($1 == "option" || $1 == "example") print ""
          if ($1 == "example") print "```"
        }
        if ($1 == "verb") printf "\n## %s\n\n%s%s.\n\n", $2, toupper(substr($3, 1, 1)), substr($3, 2)
        if ($1 == "usage") print "    " $2 "\n"
        if ($1 == "text") print ($2 ~ /^[#-]/ ? "\\" : "") $2
        if ($1 == "example") print $2
        if ($1 == "option" && uses[$0] < 3) {
          if (!own++) print "| option | meaning |\n|---|---|"
          print "| " form($2, $3) " | " cell($4) " |"
        } else if ($1 == "option") {
          last = shared
          sub(/.*\n/, "", last)
          shared = shared (shared == "" ? "" : length(last) > 80 ? ",\n" : ", ") "`" $2 "`"
          if (!known[$0]++) common[++count] = $0
        }
        part = $1
      }
      end_part()
      print "\n## Options of several verbs\n\n| option | meaning |\n|---|---|"
      for (n = 1; n <= count; n++) {
        $0 = common[n]
        print "| " form($2, $3) " | " cell($4) " |"
      }
    }'
  ;;
library)
  head_of library
  for file in combinators places reorder shuffle sort fft dct fwht quantise ntt; do
    # ## SECTION and its text, and the first name of each group of definitions that has a comment.
    awk -v file="stdlib/$file.perm" '
      function text_of(line) { sub(/^-- ?/, "", line); return "text " line }
      function show(   i) { for (i = 1; i <= lines; i++) print text_of(comment[i]); lines = 0 }
      function title(words) { print "text\ntext ## " toupper(substr(words, 1, 1)) substr(words, 2) "\ntext" }
      NR == 1 { head = $0; sub(/^-- /, "", head); sub(/[:.].*/, "", head); title(head); in_head = 1 }
      /^-- ----/ { gsub(/^-- -+ | -+$/, ""); title($0); in_head = 1; lines = 0; next }
      /^-- ==/ { block = 1 }
      /^--/ { if (!block) comment[++lines] = $0; next }
      { block = 0 }
      /^$/ { if (in_head && lines) { show(); if (NR < 20) print "text\ntext The source: [" file "](../" file ")." }
             in_head = 0; lines = 0; next }
      /^[a-z]/ && lines { split($0, words, " "); print "group " words[1] }
      { lines = 0 }' "$docs/../stdlib/$file.perm" | while IFS= read -r line; do
      rest=${line#* }
      if [ "$rest" = "$line" ]; then
        echo
      elif [ "${line%% *}" = text ]; then
        printf '%s\n' "$rest"
      else
        "$permc" help "$rest" | awk -v name="$rest" '
          # The heading, the types, what is computed and its value, the text.
          / : / && !part { names[++count] = $1; types = types "\n    " $0; next }
          /^$/ && !part { part = 1; if (!count) names[++count] = name; next }
          /^from stdlib/ { exit }
          {
            for (i = 1; i <= count && /^  .* = /; i++)
              if ($0 ~ "(^|[^a-z_])" names[i] "([^a-z_]|$)") { sub(/^ +/, ""); types = types "\n    " $0; next }
            text = text "\n" $0
          }
          END {
            heading = names[1]
            for (i = 2; i <= count; i++) heading = heading ", " names[i]
            print "\n### " heading types text
          }'
      fi
    done
  done | awk '
    # Paragraphs are filled; code has four blanks, and a blank line in front.
    function flush(   i, n, words, line) {
      n = split(paragraph, words, " ")
      for (i = 1; i <= n; i++) {
        if (length(line) + length(words[i]) + 1 > 100) { print line; line = "" }
        line = line (line == "" ? "" : " ") words[i]
      }
      if (line != "") print line
      paragraph = ""
    }
    /^  / { if (paragraph) { flush(); print "" } sub(/^ +/, "    "); print; blank = 0; next }
    /^$/ || /^#/ { flush() }
    /^$/ { empty(); next }
    /^#/ { print; blank = 0; next }
    { paragraph = paragraph " " $0; blank = 0 }
    function empty() { if (!blank) print ""; blank = 1 }
    END { flush() }'
  ;;
permc.1)
  verbs | awk -F '\t' -v version="$("$permc" --version)" -v pages="$docs" '
    function plain(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); return s ~ /^[.'"'"']/ ? "\\&" s : s }
    function without_marks(s) {  # of Markdown
      gsub(/`/, "", s)
      while (match(s, /\[[^]]*\]\([^)]*\)/)) {
        link = substr(s, RSTART + 1, RLENGTH)
        s = substr(s, 1, RSTART - 1) substr(link, 1, index(link, "]") - 1) substr(s, RSTART + RLENGTH)
      }
      return s
    }
    BEGIN {
      print ".TH PERMC 1 \"\" \"" version "\" \"User Commands\""
      print ".SH NAME\npermc \\- compile and run programs of combinators over arrays\n.SH SYNOPSIS"
      print ".B permc\n.I VERB\n.RI [ OPTION ]...\\& \" \" [ OPERAND ]...\n.SH DESCRIPTION"
      print "Programs are written in a small, pure language of combinators over arrays (files *.perm)."
      print "An option with a value is written \\-\\-option VALUE or \\-\\-option=VALUE."
      print "Behind \\-\\- all words are operands."
      print "permc \\-\\-version prints the version, permc VERB \\-\\-help what a verb takes.\n.SH VERBS"
    }
    $1 == "verb" { print ".SS " $2 }
    $1 == "usage" { print ".B " plain($2) "\n.PP" }
    $1 == "text" { print plain($2) }
    $1 == "option" { print ".TP\n.BI \"" plain($2) ($3 == "" ? "\"" : " \" \"" plain($3) "\"") "\n" plain($4) }
    $1 == "example" { examples = examples plain($2) "\n" }
    END {
      print ".SH ENVIRONMENT"
      while ((getline line < (pages "/running.md")) > 0) {
        if (line ~ /^## /) inside = line == "## Environment variables"
        else if (inside && line ~ /^\| `/) {
          split(line, cells, " \\| ")
          sub(/^\| /, "", cells[1]); sub(/ \|$/, "", cells[2])
          print ".TP\n.B " plain(without_marks(cells[1])) "\n" plain(without_marks(cells[2]))
        }
      }
      print ".SH EXIT STATUS\n0: all is well. 1: the program, its data or a file is wrong, a test failed, or a file would change."
      print "2: the command line is wrong. 130, 143 or 129: ended by SIGINT, SIGTERM or SIGHUP."
      printf ".SH EXAMPLES\n.nf\n%s.fi\n", examples
      print ".SH SEE ALSO\nThe guide to the language, docs/guide.md, in the sources; permc help formats."
    }'
  ;;
*)
  echo "pages.sh: there is no page '$page'" >&2
  exit 2
  ;;
esac
