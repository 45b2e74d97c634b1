# A table is read in time that grows with its fields, whichever columns are chosen in which order.
cd "$PERMC_TMP"
awk 'BEGIN {
  for (row = 0; row <= 20; row++)
    for (i = 0; i < 25000; i++)
      printf "%s%s", row ? row * i : "c" i, i < 24999 ? "," : "\n"
}' >wide.csv
permc run -e '\xs -> xs' -i wide.csv | tail -n 1
printf '"a\nx",b, c ,d\n1,"2", 3 ,4\n\n# none\n5,"6""", 7,8.5\n' >odd.csv
permc run -e '\xs -> xs' -i odd.csv:c,d,0
permc run -e '\xs -> xs' -i odd.csv:d,c,0,d
permc run -e '\xs -> xs' -i odd.csv
permc run -e '\xs -> map fst xs' -i odd.csv:0,c,b
printf 'a,b\n1,2\n3,300\n' >range.csv
printf 'main : [m](u8, u8) -> [m]u8\nmain = map fst\n' >first.perm
permc run first.perm -i range.csv
printf 'a,b\n1,x\n' >text.csv
permc run first.perm -i text.csv
printf '1 2 # 3\n-- 4\n  5\t6\n' >blanks.txt
permc run -e '\xs -> xs' -i blanks.txt:1,0,1
