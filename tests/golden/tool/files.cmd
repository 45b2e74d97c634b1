# Programs that are no readable text.
cd "$PERMC_TMP" || exit 1
permc check missing.perm
permc check .
printf '\377\376m\000' >utf16.perm
permc check utf16.perm
printf '\211PNG\r\n\032\n' >image.perm
permc check image.perm
: >empty.perm
permc check empty.perm
echo "empty: $?"
printf 'main = 1 +' >no_newline.perm
permc check no_newline.perm
printf '\357\273\277main = 1\n' >mark.perm
permc check mark.perm
echo "byte order mark: $?"
printf 'main = 1\r\nother = 1 +\r\n' >windows.perm
permc check windows.perm
