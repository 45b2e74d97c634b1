#include "runtime/machine_input.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

static bool read_number(const char *word, size_t length, uint64_t *number) {
  bool hexadecimal = length > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
  const char *digits = hexadecimal ? word + 2 : word;
  if (digits + strspn(digits, hexadecimal ? "0123456789abcdefABCDEF" : "0123456789") !=
      word + length)
    return false;
  errno = 0;
  *number = strtoull(digits, NULL, hexadecimal ? 16 : 10);
  return errno == 0;
}

uint64_t *machine_read_addresses(arena *a, const char *string, uint64_t *count,
                                 const char **wrong) {
  VEC(uint64_t) list = {0};
  uint64_t line = 1, number;
  for (const char *at = string; *at;) {
    if (*at == '#')
      at += strcspn(at, "\n");
    if (!*at)
      break;
    if (isspace((unsigned char)*at)) {
      line += *at++ == '\n';
      continue;
    }
    size_t length = strcspn(at, " \t\r\n\v\f#");
    if (!read_number(at, length, &number) || number == UINT64_MAX) {  // that is nobody
      *wrong =
          arena_printf(a, "line %" PRIu64 ": an address from 0 to 2^64 - 2 is expected, not '%.*s'",
                       line, length < 40 ? (int)length : 40, at);
      return NULL;
    }
    vec_push(a, &list, number);
    at += length;
  }
  *count = list.count;
  if (list.count == 0)
    *wrong = "there is no address in it";
  return list.count ? list.items : NULL;
}

const char *machine_permutation_problem(arena *a, const uint64_t *list, uint64_t count) {
  bool *seen = NEW_ARRAY(a, bool, count);
  for (uint64_t i = 0; i < count; i++) {
    if (list[i] >= count)
      return arena_printf(a, "number %" PRIu64 " is %" PRIu64 ", and there are %" PRIu64 " of them",
                          i, list[i], count);
    if (seen[list[i]])
      return arena_printf(a, "number %" PRIu64 " is %" PRIu64 " again", i, list[i]);
    seen[list[i]] = true;
  }
  return NULL;
}
