# sh lib_run.sh FILE: what permc says to each mistake of FILE, which are
#   === what it is
#   the program
#   --- the command, in whose folder it is program.perm
here=$PWD
cd "$PERMC_TMP" || exit 1
printf '3\n1\n2\n' >keys.txt
printf '0.5\n1.5\n' >fractions.txt
awk '/^=== / { file = sprintf("%03d", ++count); sub(/^=== /, ""); print >(file ".title"); next }
     /^--- / { sub(/^--- /, ""); print >(file ".command"); close(file ".program"); next }
     { print >(file ".program") }' "$here/$1"
for title in *.title; do
  mistake=${title%.title}
  cp "$mistake.program" program.perm
  sed 's/^/=== /' "$title"
  sh "./$mistake.command" 2>&1
done
