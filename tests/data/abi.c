// Prints the numbers of permc.h that programs are compiled with (tests/tools/symbols.sh).
#include "permc.h"
#include <stdio.h>

#define NUMBER(name) printf(#name " %d\n", (int)name)
#define SIZE(type) printf(#type " %zu bytes\n", sizeof(type))
#define MEMBER(type, name) printf(#type " " #name " at %zu\n", offsetof(type, name))

int main(void) {
  NUMBER(PERMC_OK);
  NUMBER(PERMC_ERROR_PROGRAM);
  NUMBER(PERMC_ERROR_ARGUMENT);
  NUMBER(PERMC_ERROR_LAYOUT);
  NUMBER(PERMC_ERROR_DEVICE);
  NUMBER(PERMC_ERROR_MISSING);
  NUMBER(PERMC_ERROR_MEMORY);
  NUMBER(PERMC_ERROR_INTERRUPTED);
  NUMBER(PERMC_ERROR_FILE);
  NUMBER(PERMC_ERROR_RANKS);
  NUMBER(PERMC_HOST);
  NUMBER(PERMC_IMPORT_ANYWHERE);
  NUMBER(PERMC_IMPORT_BESIDE);
  NUMBER(PERMC_IMPORT_NONE);
  SIZE(permc_error);
  MEMBER(permc_error, message);
  SIZE(permc_memory);
  MEMBER(permc_memory, type);
  MEMBER(permc_memory, rank);
  MEMBER(permc_memory, dims);
  MEMBER(permc_memory, strides);
  MEMBER(permc_memory, data);
  MEMBER(permc_memory, device);
  MEMBER(permc_memory, read_only);
  MEMBER(permc_memory, release);
  MEMBER(permc_memory, with);
  SIZE(permc_call_options);
  MEMBER(permc_call_options, stream);
  MEMBER(permc_call_options, workspace);
  MEMBER(permc_call_options, workspace_bytes);
  SIZE(permc_size);
  SIZE(permc_transfer);
  MEMBER(permc_transfer, rank);
  MEMBER(permc_transfer, data);
  MEMBER(permc_transfer, bytes);
  SIZE(permc_ranks);
  SIZE(permc_explain_options);
  SIZE(permc_tune_options);
  SIZE(permc_times);
  SIZE(permc_progress);
  return 0;
}
