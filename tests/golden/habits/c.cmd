sh ./lib_run.sh c.txt
