# Writes OUTPUT, a C file with the texts of FILES (relative to SOURCE_DIR, separated by commas): the
# tables that HEADER declares, NAME and NAME's count. Run by the build:
#   cmake -D SOURCE_DIR=... -D FILES=stdlib/a.perm,stdlib/b.perm -D HEADER=lang/load/stdlib.h
#         -D TYPE=embedded_file -D NAME=stdlib_file -D OUTPUT=... -P embed.cmake
# Bytes rather than string literals: a literal may hold only 4095 characters in ISO C.
cmake_minimum_required(VERSION 3.25)

string(REPLACE "," ";" files "${FILES}")
list(SORT files)

set(texts "")
set(rows "")
set(index 0)
foreach(file IN LISTS files)
  file(READ "${SOURCE_DIR}/${file}" hex HEX)
  file(SIZE "${SOURCE_DIR}/${file}" size)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND texts "// ${file}\nstatic const unsigned char text_${index}[] = {\n${bytes}0};\n\n")
  string(APPEND rows "    {\"${file}\", (const char *)text_${index}, ${size}},\n")
  math(EXPR index "${index} + 1")
endforeach()

file(WRITE "${OUTPUT}" "// Written by cmake/embed.cmake.
#include \"${HEADER}\"

${texts}const struct ${TYPE} ${NAME}s[] = {
${rows}    {NULL, NULL, 0},
};
const size_t ${NAME}_count = ${index};
")
