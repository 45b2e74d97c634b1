// f16 and bf16 from digits and to digits (runtime/values/number.c, core/scalar/number.c): all of
// them.
#include "tests/test.h"

#include "runtime/values/formats.h"

#include <math.h>

static uint16_t element_of_text(scalar_type type, const char *digits) {
  char token[400];
  number n;
  uint16_t bits = 0;
  snprintf(token, sizeof token, "%s", digits);
  CHECK(number_scan(token, &n) && number_suits(&n, type));
  number_store(&bits, type, &n);
  return bits;
}

static double value_of(scalar_type type, uint16_t bits) { return scalar_as_double(type, &bits); }
static uint16_t read_element(scalar_type type, const char *digits) {
  return scalar_read(type, digits).u16;
}

// No other element has fewer digits, or as many and is nearer.
static void check_fewest(scalar_type type, uint16_t step) {
  for (uint16_t bits = 1; bits < scalar_types[type].infinity; bits = (uint16_t)(bits + step)) {
    char shown[ELEMENT_TEXT], fewer[40];
    shown[number_print(shown, type, &bits, true)] = 0;
    int digits = 0;
    bool leading = true;
    for (const char *c = shown; *c && *c != 'e' && *c != 'b' && *c != 'f'; c++) {
      leading = leading && (*c == '0' || *c == '.');
      digits += !leading && *c != '.';
    }
    double value = value_of(type, bits);
    for (int places = 0; places < 5; places++) {
      snprintf(fewer, sizeof fewer, "%.*e", places, value);
      if (element_of_text(type, fewer) != bits)
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

TEST(digits_are_the_fewest) {
  check_fewest(SCALAR_F16, 1);
  check_fewest(SCALAR_BF16, 1);
}

// In the middle of two, and hardly beside it: farther behind the point than a double can tell.
static void check_rounded_once(scalar_type type, uint16_t step) {
  uint16_t infinity = (uint16_t)scalar_types[type].infinity;
  for (uint16_t bits = 1; bits < infinity; bits = (uint16_t)(bits + step)) {
    double value = value_of(type, bits), before = value_of(type, (uint16_t)(bits - 1));
    double next = bits + 1 == infinity ? 2 * value - before : value_of(type, (uint16_t)(bits + 1));
    char middle[300], token[400];
    snprintf(middle, sizeof middle, "%.150f", (value + next) / 2);  // exactly
    CHECK_EQ_U64(element_of_text(type, middle), bits + (bits & 1U));
    CHECK_EQ_U64(read_element(type, middle), bits + (bits & 1U));
    snprintf(token, sizeof token, "%s000000000000000000001", middle);
    CHECK_EQ_U64(element_of_text(type, token), bits + 1U);
    CHECK_EQ_U64(read_element(type, token), bits + 1U);
    for (char *c = middle + strlen(middle); c > middle; c--)  // one less in the last place
      if (c[-1] == '0') {
        c[-1] = '9';
      } else if (c[-1] != '.') {
        c[-1]--;
        break;
      }
    snprintf(token, sizeof token, "%s999999999999999999999", middle);
    CHECK_EQ_U64(element_of_text(type, token), bits);
    CHECK_EQ_U64(read_element(type, token), bits);
  }
}

TEST(digits_are_rounded_once) {
  check_rounded_once(SCALAR_F16, 1);
  check_rounded_once(SCALAR_BF16, 3);
  CHECK_EQ_U64(read_element(SCALAR_F16, "1e999"), 0x7c00);
  CHECK_EQ_U64(read_element(SCALAR_F16, "1e-999"), 0);
  CHECK_EQ_U64(read_element(SCALAR_F16, "0x1.0020000000000000000001p0"), 0x3c01);
  CHECK_EQ_U64(read_element(SCALAR_BF16, "3.4e38"), 0x7f80);
  CHECK_EQ_U64(read_element(SCALAR_BF16, "3.39e38"), 0x7f7f);
  CHECK_EQ_U64(read_element(SCALAR_BF16, "0x1.0100000000000000000001p0"), 0x3f81);
}

TEST_MAIN()
