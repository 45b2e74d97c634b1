// Reading traces and lists. See address_text.h.
#include "tool/reports/address_text.h"

#include <ctype.h>
#include <stdio.h>

enum { SHOWN = 24 };  // characters of what is no address

static bool is_separator(char c) { return c == ' ' || c == '\t' || c == ',' || c == '\r'; }

static int digit_of(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : 16;
}

// As much of it as a message has room for, in letters that can be seen.
static const char *printable_word(arena *a, const char *word, size_t length) {
  char *out = arena_alloc(a, 4 * SHOWN + 4);
  size_t at = 0;
  for (size_t i = 0; i < length && i < SHOWN; i++) {
    unsigned char c = (unsigned char)word[i];
    at += (size_t)snprintf(out + at, 5, isprint(c) ? "%c" : "\\x%02x", c);
  }
  memcpy(out + at, length > SHOWN ? "..." : "", length > SHOWN ? 4 : 1);
  return out;
}

// NULL, or what is wrong.
static const char *read_address(arena *a, const char *word, size_t length, uint64_t *address) {
  bool hexadecimal = length > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
  uint64_t base = hexadecimal ? 16 : 10;
  bool far = false;
  *address = 0;
  for (size_t i = hexadecimal ? 2 : 0; i < length; i++) {
    uint64_t digit = (uint64_t)digit_of(word[i]);
    if (digit >= base)
      return arena_printf(a, "'%s' is not a number such as 96 or 0x60",
                          printable_word(a, word, length));
    *address = far ? 0 : *address * base + digit;
    far = far || *address >> BANK_ADDRESS_BITS != 0;
  }
  return far ? arena_printf(a, "%s is too large: addresses are less than 2^%d",
                            printable_word(a, word, length), BANK_ADDRESS_BITS)
             : NULL;
}

// The numbers up to `end`, behind those that are there.
static const char *read_line(arena *a, const char *at, const char *end, address_list *out) {
  while (at < end) {
    const char *word = at;
    uint64_t address;
    while (at < end && !is_separator(*at))
      at++;
    const char *wrong = at > word ? read_address(a, word, (size_t)(at - word), &address) : NULL;
    if (wrong)
      return wrong;
    if (at > word)
      vec_push(a, out, address);
    at += at < end;
  }
  return NULL;
}

bool address_text_read(arena *a, const char *bytes, size_t length, bank_trace *trace,
                       address_list *list, size_t *line, const char **wrong) {
  const char *end = bytes + length;
  address_list access = {0}, *to = trace ? &access : list;
  size_t before = trace ? trace->accesses.count : 0;
  *line = 0;
  *wrong = NULL;
  for (const char *at = bytes, *next; at < end; at = next + (next < end)) {
    next = memchr(at, '\n', (size_t)(end - at));
    next = next ? next : end;
    const char *comment = memchr(at, '#', (size_t)(next - at));
    access.count = 0;
    ++*line;
    *wrong = read_line(a, at, comment ? comment : next, to);
    if (!*wrong && access.count > BANK_LANES_MAX)
      *wrong = arena_printf(a, "an access has more than %d addresses", BANK_LANES_MAX);
    if (*wrong)
      return false;
    if (access.count)
      bank_trace_add(a, trace, (uint32_t)access.count, access.items);
  }
  *line = 0;
  if (trace ? trace->accesses.count == before : !list->count)
    *wrong = trace ? "the file has no accesses: write the addresses of each access on a line"
                   : "the file has no numbers";
  return !*wrong;
}
