# Papers that are not there.
permc paper
echo "exit $?"
permc paper hsh
echo "exit $?"
permc paper 7
echo "exit $?"
permc paper rap hash
echo "exit $?"
