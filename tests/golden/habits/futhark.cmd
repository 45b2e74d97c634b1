sh ./lib_run.sh futhark.txt
