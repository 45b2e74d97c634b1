// A hash of bytes, for tables in memory (files have their own: runtime/system/digest.h).
#ifndef PERMC_CORE_HASH_H
#define PERMC_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *bytes, size_t count);

#endif
