// f16 from digits and to digits (runtime/values/number.c, core/scalar/half.c): all of them.
#include "tests/test.h"

#include "runtime/values/formats.h"

#include <math.h>

static uint16_t f16_of_text(const char *digits) {
  char token[100];
  number n;
  uint16_t bits = 0;
  snprintf(token, sizeof token, "%s", digits);
  CHECK(number_scan(token, &n) && number_suits(&n, SCALAR_F16));
  number_store(&bits, SCALAR_F16, &n);
  return bits;
}

// No other f16 has fewer digits, or as many and is nearer.
TEST(digits_of_f16_are_the_fewest) {
  for (uint16_t bits = 1; bits < 0x7c00; bits++) {
    char shown[ELEMENT_TEXT], fewer[40];
    shown[number_print(shown, SCALAR_F16, &bits, true)] = 0;
    int digits = 0;
    bool leading = true;
    for (const char *c = shown; *c && *c != 'e' && *c != 'f'; c++) {
      leading = leading && (*c == '0' || *c == '.');
      digits += !leading && *c != '.';
    }
    double value = scalar_f16_value(bits);
    for (int places = 0; places < 5; places++) {
      snprintf(fewer, sizeof fewer, "%.*e", places, value);
      if (f16_of_text(fewer) != bits)
        continue;
      double read = strtod(shown, NULL), best = strtod(fewer, NULL);
      while (places > 0 && fewer[1 + places] == '0')
        places--;
      CHECK(digits <= places + 1 || strchr(shown, '0'));
      CHECK(fabs(read - value) <= fabs(best - value) || digits <= places + 1);
      break;
    }
  }
}

// In the middle of two, and hardly beside it: farther behind the point than a double can tell.
TEST(digits_are_rounded_to_f16_once) {
  for (uint16_t bits = 0; bits < 0x7c00; bits++) {
    double value = scalar_f16_value(bits), next = bits == 0x7bff ? 65536 : 0;
    next = next > 0 ? next : scalar_f16_value((uint16_t)(bits + 1));
    char middle[60], token[120];
    snprintf(middle, sizeof middle, "%.25f", (value + next) / 2);  // exactly
    CHECK_EQ_U64(f16_of_text(middle), bits + (bits & 1U));
    CHECK_EQ_U64(scalar_f16_read(middle), bits + (bits & 1U));
    snprintf(token, sizeof token, "%s000000000000000000001", middle);
    CHECK_EQ_U64(f16_of_text(token), bits + 1U);
    CHECK_EQ_U64(scalar_f16_read(token), bits + 1U);
    for (char *c = middle + strlen(middle); c > middle; c--)  // one less in the last place
      if (c[-1] == '0') {
        c[-1] = '9';
      } else if (c[-1] != '.') {
        c[-1]--;
        break;
      }
    snprintf(token, sizeof token, "%s999999999999999999999", middle);
    CHECK_EQ_U64(f16_of_text(token), bits);
    CHECK_EQ_U64(scalar_f16_read(token), bits);
  }
  CHECK_EQ_U64(scalar_f16_read("1e999"), 0x7c00);
  CHECK_EQ_U64(scalar_f16_read("1e-999"), 0);
  CHECK_EQ_U64(scalar_f16_read("0x1.0020000000000000000001p0"), 0x3c01);
}

TEST_MAIN()
