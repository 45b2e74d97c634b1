sh ./lib_run.sh shell.txt
