// Private to net_read.c and plan_read.c: a text line by line, in the
// notation of net.h. The first mistake ends it, by read_fail's longjmp to `stop`.
#ifndef PERMC_TESTS_READERS_READER_H
#define PERMC_TESTS_READERS_READER_H

#include "fusion/net/net.h"

typedef struct reader {
  arena *memory;
  const char *at;  // what is left of the text
  size_t line;
  const char *wrong;  // "line N: ...", after a mistake
  jmp_buf stop;
  uint32_t loop_count;  // that maps may use
} reader;

NORETURN void read_fail(reader *r, const char *format, ...) PRINTF_LIKE(2, 3);
void read_skip(reader *r);    // blanks and a comment
bool read_at_end(reader *r);  // of the line
// Whether the text goes on with that, which is then passed: anything; a whole word.
bool read_literal(reader *r, const char *token);
bool read_word(reader *r, const char *expected);
size_t read_word_length(const char *at);
void read_expect(reader *r, const char *token);  // read_literal, or a mistake
uint64_t read_number(reader *r);                 // decimal, or 0x... or 0b...
uint32_t read_small_number(reader *r);           // of a thing: at most a million
scalar_type read_type(reader *r);
uint32_t read_forms(reader *r, net_form **out);  // returns how many
net_map read_map(reader *r);
double read_real(reader *r);
scalar_bits read_constant(reader *r, scalar_type type);
net_array read_array(reader *r, size_t number);  // after the word `array`

#endif
