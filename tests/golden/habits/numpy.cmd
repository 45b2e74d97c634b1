sh ./lib_run.sh numpy.txt
