// sinpi, cospi and roots of unity: trigonometry of angles that are exact fractions of a turn. The
// angle is reduced exactly first, so zeros, ones and halves come out exact.
#include "core/scalar/loops.h"

#ifndef __CUDACC_RTC__
#include <math.h>
#endif

#define PI_HIGH 0x1.921fb54442d18p+1  // the double nearest to pi
#define PI_LOW 0x1.1a62633145c07p-53  // and the rest of pi
#define SQRT_HALF 0.707106781186547524400844362104849039

// ---- sinpi and cospi -----------------------------------------------------------------------

// An angle of pi * (rest + quadrant / 2), |rest| <= 1/4. Not finite: rest is NaN.
typedef struct angle {
  double rest;
  unsigned quadrant;
} angle;

// x >= 0, or NaN. Both steps are exact: rint(2 x) is within 1/2 of 2 x.
static angle angle_of(double x) {
  if (!(x < 0x1p53))
    return LITERAL(angle){x - x, 0};  // an even integer, infinity or NaN
  double halves = rint(2 * x);
  return LITERAL(angle){x - halves / 2, (unsigned)((int64_t)halves & 3)};
}

// The sine of the angle. The product pi * rest is taken in two parts, whose sum is pi * rest to
// about 100 bits; the small part enters by the first term of the Taylor series.
static double sine_f64(angle a) {
  double high = PI_HIGH * a.rest, low = fma(PI_HIGH, a.rest, -high) + PI_LOW * a.rest;
  double value;
  if (fabs(a.rest) == 0.25)
    value = a.quadrant & 1 ? SQRT_HALF : copysign(SQRT_HALF, a.rest);
  else if (a.quadrant & 1)
    value = cos(high) - low * sin(high);
  else
    value = sin(high) + low * cos(high);
  return a.quadrant & 2 ? 0 - value : value;  // 0 - 0 is +0
}

// The same for float: double has bits to spare.
static float sine_f32(angle a) {
  double radians = PI_HIGH * a.rest;
  double value = a.quadrant & 1 ? cos(radians) : sin(radians);
  return (float)(a.quadrant & 2 ? 0 - value : value);
}

static angle quarter_turn_later(angle a) { return LITERAL(angle){a.rest, a.quadrant + 1}; }

double scalar_sinpi_f64(double x) {
  double value = sine_f64(angle_of(fabs(x)));
  return signbit(x) ? -value : value;
}

double scalar_cospi_f64(double x) { return sine_f64(quarter_turn_later(angle_of(fabs(x)))); }

float scalar_sinpi_f32(float x) {
  float value = sine_f32(angle_of(fabs((double)x)));
  return signbit(x) ? -value : value;
}

float scalar_cospi_f32(float x) { return sine_f32(quarter_turn_later(angle_of(fabs((double)x)))); }

#ifndef SCALAR_FUNCTIONS_ONLY
// ---- roots of unity ------------------------------------------------------------------------

#include "core/scalar/root_product.inc"

#include "core/scalar/root.inc"

scalar_bits scalar_root(scalar_type complex, int64_t k, int64_t m) {
  double parts[2];
  scalar_bits root = {{0}};
  root_parts(complex == SCALAR_C128, k, m, parts);
  scalar_convert(SCALAR_C128, complex, 1, parts, &root);
  return root;
}
#endif
