// Keys as unsigned numbers of their order. See order.h.
#include "kernels/routines/sort/order.h"

const char *unsigned_of(uint32_t bytes) {
  return bytes == 1 ? "uint8_t" : bytes == 2 ? "uint16_t" : bytes == 4 ? "uint32_t" : "uint64_t";
}

void write_sort_order(text *out, const char *name, const char *last, scalar_type type,
                      bool descending) {
  static const uint64_t infinities[] = {0, 0x7c00, 0x7f800000, 0x7ff0000000000000};
  uint32_t bytes = (uint32_t)scalar_types[type].size, log = (uint32_t)__builtin_ctz(bytes);
  const char *key = unsigned_of(bytes);
  unsigned long long top = 1ULL << (8 * bytes - 1), all = 2 * top - 1, inf = infinities[log];
  scalar_kind kind = scalar_types[type].kind;
  text_printf(out, "static inline %s %s(%s k) {\n", key, name, key);
  if (kind == KIND_SIGNED)
    text_printf(out, "  k ^= %lluU;\n", top);
  if (kind == KIND_FLOAT)
    text_printf(out, "  k = (k & %lluU) > %lluU ? %lluU : k & %lluU ? ~k : k | %lluU;\n", top - 1,
                inf, all, top, top);
  text_printf(out, "  return (%s)%sk;\n}\n", key, descending ? "~" : "");
  unsigned long long least = kind == KIND_SIGNED ? top : kind == KIND_FLOAT ? top | inf : 0;
  text_printf(out, "#define %s ((%s)%lluU)\n", last, key,
              descending            ? least
              : kind == KIND_SIGNED ? top - 1
                                    : all);
}
