// f16 for the rest of the program: its value as a double, and from digits.
#include "core/scalar/loops.h"

#include <fenv.h>
#include <stdlib.h>

double scalar_f16_value(uint16_t bits) { return (double)f32_of_f16(bits); }

uint16_t scalar_f16_nearest(double value) { return f16_of_f64(value); }

// Rounding to a double first would round twice. Of the doubles next to the number, below and above
// it, the one whose last bit is 1 lies on the same side of every f16 and of the middle of every
// two.
uint16_t scalar_f16_read(const char *digits) {
  int mode = fegetround();
  fesetround(FE_DOWNWARD);
  double below = strtod(digits, NULL);
  fesetround(FE_UPWARD);
  double above = strtod(digits, NULL);
  fesetround(mode);
  uint64_t bits;
  memcpy(&bits, &below, sizeof bits);
  volatile double odd = bits & 1 ? below : above;  // the sum below is not to pass fesetround
  return f16_of_f64(odd);
}
