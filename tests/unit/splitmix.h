// Random words for tests: the same in every run. SplitMix64 (Steele, Lea and Flood 2014).
#ifndef PERMC_TESTS_UNIT_SPLITMIX_H
#define PERMC_TESTS_UNIT_SPLITMIX_H

#include <stdint.h>

static uint64_t random_state = 1;

static uint64_t random_u64(void) {
  uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

#endif
