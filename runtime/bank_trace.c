// Reading traces. See bank_trace.h.
#include "runtime/bank_trace.h"

#include <ctype.h>
#include <stdio.h>

enum { SHOWN = 24 };  // characters of what is no address

static bool separates(char c) { return c == ' ' || c == '\t' || c == ',' || c == '\r'; }

static int digit_of(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : 16;
}

static const char *no_address(arena *a, const char *word, size_t length) {
  char shown[4 * SHOWN + 1] = "";
  size_t count = length < SHOWN ? length : SHOWN;
  for (size_t i = 0, at = 0; i < count; i++) {
    unsigned char c = (unsigned char)word[i];
    at += (size_t)snprintf(shown + at, sizeof shown - at, isprint(c) ? "%c" : "\\x%02x", c);
  }
  return arena_printf(a, "'%s%s' is no address: expected a number of words, such as 96 or 0x60",
                      shown, length > SHOWN ? "..." : "");
}

// NULL, or what is wrong.
static const char *read_address(arena *a, const char *word, size_t length, uint64_t *address) {
  bool hexadecimal = length > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
  uint64_t base = hexadecimal ? 16 : 10;
  *address = 0;
  for (size_t i = hexadecimal ? 2 : 0; i < length; i++) {
    uint64_t digit = (uint64_t)digit_of(word[i]);
    if (digit >= base)
      return no_address(a, word, length);
    *address = *address * base + digit;
    if (*address >> BANK_ADDRESS_BITS)
      return arena_printf(a, "address %.*s%s is beyond 2^%d words",
                          (int)(length < SHOWN ? length : SHOWN), word, length > SHOWN ? "..." : "",
                          BANK_ADDRESS_BITS);
  }
  return NULL;
}

static const char *read_line(arena *a, const char *at, const char *end, bank_trace *out) {
  uint64_t address[BANK_LANES_MAX];
  uint32_t count = 0;
  while (at < end) {
    const char *word = at;
    while (at < end && !separates(*at))
      at++;
    if (at > word) {
      if (count == BANK_LANES_MAX)
        return arena_printf(a, "more than %d addresses in one access", BANK_LANES_MAX);
      const char *wrong = read_address(a, word, (size_t)(at - word), &address[count++]);
      if (wrong)
        return wrong;
    }
    at += at < end;
  }
  if (count)
    bank_trace_add(a, out, count, address);
  return NULL;
}

bool bank_trace_read(arena *a, const char *bytes, size_t length, bank_trace *out, size_t *line,
                     const char **wrong) {
  const char *at = bytes, *end = bytes + length;
  size_t before = out->accesses.count;
  *line = 0;
  do {
    const char *next = memchr(at, '\n', (size_t)(end - at));
    next = next ? next : end;
    const char *comment = memchr(at, '#', (size_t)(next - at));
    ++*line;
    *wrong = read_line(a, at, comment ? comment : next, out);
    if (*wrong)
      return false;
    at = next < end ? next + 1 : end;
  } while (at < end);
  if (out->accesses.count > before)
    return true;
  *line = 0;
  *wrong = "no access in it: expected a line with the addresses of each warp";
  return false;
}
