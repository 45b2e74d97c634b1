sh ./lib_run.sh graded.txt
