// As a function of a caller does (permc_carry): messages are carried by another transport, `with`.
#ifndef PERMC_TESTS_CARRY_H
#define PERMC_TESTS_CARRY_H

#include "runtime/transport/transport.h"

#include <stdio.h>

static inline bool carry(void *with, const permc_transfer *sends, size_t send_count,
                         const permc_transfer *receives, size_t receive_count, permc_error *why) {
  error failure = {0};
  bool good = transport_exchange(with, sends, (uint32_t)send_count, receives,
                                 (uint32_t)receive_count, &failure);
  snprintf(why->message, sizeof why->message, "%s", failure.message);
  return good;
}

#endif
