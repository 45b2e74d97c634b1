sh ./lib_run.sh classes.txt
