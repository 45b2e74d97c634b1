autocmd BufRead,BufNewFile *.perm setfiletype perm
