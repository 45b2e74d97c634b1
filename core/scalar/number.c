// Floats from digits, each type rounded once, and elements as doubles.
#include "core/scalar/scalar.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>

double scalar_as_double(scalar_type type, const void *element) {
  double value = 0;
  scalar_convert(type, SCALAR_F64, 1, element, &value);
  return value;
}

scalar_bits scalar_of_double(scalar_type type, double value) {
  scalar_bits bits = {{0}};
  scalar_convert(SCALAR_F64, type, 1, &value, &bits);
  return bits;
}

// Rounding to a double first would round twice. Of the doubles next to the number, below and above
// it, the one whose last bit is 1 lies on the same side of every smaller float and of the middle of
// every two.
static double read_odd(const char *digits) {
  int mode = fegetround();
  fesetround(FE_DOWNWARD);
  double below = strtod(digits, NULL);
  fesetround(FE_UPWARD);
  double above = strtod(digits, NULL);
  fesetround(mode);
  uint64_t bits;
  memcpy(&bits, &below, sizeof bits);
  return bits & 1 ? below : above;
}

real_number real_number_read(const char *digits) {
  return (real_number){strtod(digits, NULL), read_odd(digits)};
}

scalar_bits scalar_of_real_number(scalar_type type, real_number number) {
  return scalar_of_double(type, type == SCALAR_F64 ? number.f64 : number.odd);
}

scalar_bits scalar_read(scalar_type type, const char *digits) {
  return scalar_of_double(type, type == SCALAR_F64 ? strtod(digits, NULL) : read_odd(digits));
}
