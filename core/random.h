// Random numbers of layouts and of simulations: the same for a seed on every machine.
//
//   uint64_t state = 1;                  // the seed
//   uint16_t order[4];
//   draw_permutation(&state, 4, order);  // 0 to 3, shuffled
#ifndef PERMC_CORE_RANDOM_H
#define PERMC_CORE_RANDOM_H

#include <stdint.h>

// SplitMix64 (Steele, Lea and Flood 2014) adds this to its state for each word.
#define DRAW_STEP UINT64_C(0x9e3779b97f4a7c15)

// The next word of it. Any state will do as a seed.
static inline uint64_t draw_word(uint64_t *state) {
  uint64_t z = *state += DRAW_STEP;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

// Uniform in 0 .. bound-1, without bias (Lemire 2019: the high word of a product). bound > 0.
static inline uint32_t draw_below(uint64_t *state, uint32_t bound) {
  uint64_t product = (draw_word(state) >> 32) * bound;
  if ((uint32_t)product < bound)
    for (uint32_t least = -bound % bound; (uint32_t)product < least;)
      product = (draw_word(state) >> 32) * bound;
  return (uint32_t)(product >> 32);
}

// A uniform permutation of 0 .. count-1 (Durstenfeld's shuffle, from the inside out).
static inline void draw_permutation(uint64_t *state, uint32_t count, uint16_t *out) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t j = draw_below(state, i + 1);
    out[i] = out[j];
    out[j] = (uint16_t)i;
  }
}

#endif
