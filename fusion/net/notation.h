// Private to the texts of nets and plans (net/print.c, net/read.c, plan/print.c, plan/read.c): the
// notation that both use, written and read.
//
//   forms        x0^x5^1                    index bits; 0 and 1 are constants
//   maps         3*o0 - 4*(x0^x1^1) + 7     loops o, rows of forms, an offset
//   masks        0b0110 0x80000001          vectors of index bits
//   constants    i32:-1 c64:0.5,-0          a type and a value
//   arrays       array a0 i32 4 argument 0  a line
//
// A text is read line by line. The first mistake ends it, by read_fail's longjmp to `stop`.
#ifndef PERMC_FUSION_NET_NOTATION_H
#define PERMC_FUSION_NET_NOTATION_H

#include "fusion/net/net.h"

// ---- writing ---------------------------------------------------------------------------------

void write_form(text *out, net_form f);
// `title` stands before the first of them, if there is one, and a blank between them.
void write_forms(text *out, const char *title, uint32_t count, const net_form *forms);
void write_map(text *out, const net_map *m);
// A blank and the vector; in binary where it has few bits.
void write_mask(text *out, uint64_t mask, int n);
void write_constant(text *out, scalar_type type, const scalar_bits *c);
void write_array(text *out, size_t number, const net_array *array);  // a line

// ---- reading ---------------------------------------------------------------------------------

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
