sh ./lib_run.sh haskell.txt
