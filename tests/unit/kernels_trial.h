// An expression on random arguments: what interp makes of it, and its kernels on the host.
#ifndef PERMC_TESTS_UNIT_KERNELS_TRIAL_H
#define PERMC_TESTS_UNIT_KERNELS_TRIAL_H

#include "tests/unit/kernels.h"

typedef struct trial {
  permc_context *context;
  permc_value **arguments;
  size_t count;
  result oracle;
} trial;

// Bools that are true get other bytes than 1.
static void give_bools_any_bytes(permc_value *const *arguments, size_t count) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < permc_value_components(arguments[i]); k++) {
      unsigned char *data = (unsigned char *)(uintptr_t)permc_value_data(arguments[i], k);
      uint64_t bytes = strcmp(permc_value_type(arguments[i], k), "bool") == 0;
      for (uint32_t d = 0; d < permc_value_rank(arguments[i], k); d++)
        bytes *= permc_value_dims(arguments[i], k)[d];
      for (uint64_t b = 0; b < bytes; b++)
        data[b] = (unsigned char)(data[b] ? 1 + b % 255 : 0);
    }
}

// With the options that are in *k.
static bool trial_make(trial *t, kernels *k, const char *expression, const char *types) {
  permc_context *c = permc_context_new();
  *t = (trial){.context = c};
  k->name = expression;
  bool good =
      c && permc_define(c, expression) &&
      permc_read_random(c, "-e", types, 1, &t->arguments, &t->count) &&
      (give_bools_any_bytes(t->arguments, t->count), true) &&
      permc_run(c, "-e", "interp", t->arguments, t->count, &t->oracle.values, &t->oracle.count) &&
      kernels_make(k, c, "-e", types);
  if (!CHECK(good))
    printf("%s: %s\n", expression, permc_message(c));
  return good;
}

// Whether the kernels, compiled, compute what interp does.
static bool trial_agrees(const trial *t, kernels *k) {
  result found = {0};
  bool good = kernels_run(k, t->arguments, t->count, &t->oracle, &found);
  for (size_t i = 0; i < found.count && good; i++)
    for (size_t j = 0; j < permc_value_components(t->oracle.values[i]) && good; j++)
      good = kernels_equal(found.values[i], t->oracle.values[i], j);
  free_result(&found);
  return CHECK(good);
}

static void trial_free(trial *t) {
  free_result(&t->oracle);
  permc_values_free(t->arguments, t->count);
  permc_context_free(t->context);
}

#endif
