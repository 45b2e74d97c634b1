// Roots of unity of large orders m, for generated code: there is no table of them. Behind
// root_product.inc.
#ifndef PERMC_KERNELS_TEXT_ROOT_TEXT_H
#define PERMC_KERNELS_TEXT_ROOT_TEXT_H

#if defined(__CUDA_ARCH__)
#define ROOT_ENTRY(p) __ldg(p)  // so that two readings of an entry are one
#define ROOT_PAIR(p, a, b)                                                                         \
  const double2 both = __ldg((const double2 *)(p));                                                \
  const double a = both.x, b = both.y
#define ROOT_TABLE(tables, number)                                                                 \
  ((const double *)__ldg((const unsigned long long *)((tables) + (number))))
#else
#define ROOT_ENTRY(p) (*(p))
#define ROOT_PAIR(p, a, b) const double a = (p)[0], b = (p)[1]
#define ROOT_TABLE(tables, number) ((const double *)(tables)[number])
#endif

// high: 2^ROOT_HIGH_BITS pairs of a real and an imaginary part; lows: 2^low real parts, then
// imaginary ones, of order m. 0 <= k < m = 2^(ROOT_HIGH_BITS + low).
static inline complex_f32 root_of_two(const double *high, const double *lows, unsigned low,
                                      uint64_t k) {
  const uint32_t h = (uint32_t)(k >> low), l = (uint32_t)k & ((1U << low) - 1);
  ROOT_PAIR(high + 2 * h, a, b);
  const double c = ROOT_ENTRY(lows + l), d = ROOT_ENTRY(lows + l + (1U << low));
  double re, im;
  complex_f32 root;
  root_product(a, b, c, d, &re, &im);
  root.re = (float)re;
  root.im = (float)im;
  return root;
}

#if !defined(PERMC_HOST) && !defined(__CUDA_ARCH__)
static inline complex_f32 root_alone_narrow(uint64_t k, uint64_t m) {
  complex_f32 root;
  double parts[2];
  root_parts(0, (int64_t)k, (int64_t)m, parts);
  root.re = (float)parts[0];
  root.im = (float)parts[1];
  return root;
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

#endif
