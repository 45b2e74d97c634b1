sh ./lib_run.sh all.txt
