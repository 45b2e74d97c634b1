// Roots of unity of large orders m = 2^n, for generated code: there is no table of them.
//
// One of c64 is the product of two of c128 from small tables, unless its rounding is in doubt:
//
//   k = h 2^low + l      exp(2 pi i k / m) = exp(2 pi i h / 2^(n - low)) exp(2 pi i l / m)
//
// The product is within 2^-50 of what root.inc computes, which is rounded to the same f32 where all numbers
// within 2^-50 are. So bits are those of scalar_root. Others are computed.
#ifndef PERMC_KERNELS_TEXT_ROOT_TEXT_H
#define PERMC_KERNELS_TEXT_ROOT_TEXT_H

static inline complex_f32 root_alone_narrow(uint64_t k, uint64_t m) {
  complex_f32 root;
  double parts[2];
  root_parts(0, (int64_t)k, (int64_t)m, parts);
  root.re = (float)parts[0];
  root.im = (float)parts[1];
  return root;
}

static inline int root_is_certain(double x, float *out) {
  const double doubt = 0x1p-50;
  *out = (float)(x - doubt);
  return *out == (float)(x + doubt);
}

// high: 2^(n - low) pairs of a real and an imaginary part; lows: 2^low real parts, then imaginary ones.
static inline complex_f32 root_of_two(const double *high, const double *lows, unsigned low,
                                      uint64_t k, uint64_t m) {
  complex_f32 root;
  uint64_t h = k >> low, l = k & ((UINT64_C(1) << low) - 1);
  double a = high[2 * h], b = high[2 * h + 1], c = lows[l], d = lows[l + (UINT64_C(1) << low)];
  if (root_is_certain(a * c - b * d, &root.re) & root_is_certain(a * d + b * c, &root.im))
    return root;
  return root_alone_narrow(k, m);
}

static inline complex_f64 root_alone(uint64_t k, uint64_t m) {
  complex_f64 root;
  double parts[2];
  root_parts(1, (int64_t)k, (int64_t)m, parts);
  root.re = parts[0];
  root.im = parts[1];
  return root;
}

#endif
