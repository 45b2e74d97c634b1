// NCCL, loaded at run time: permc is built without it. Private to runtime/transport.
//
//   const nccl_library *n = nccl_library_find(why, sizeof why);      // NULL: why, one line
//   nccl_id id;
//   nccl_status status = n->get_unique_id(&id);
#ifndef PERMC_RUNTIME_TRANSPORT_NCCL_LIBRARY_H
#define PERMC_RUNTIME_TRANSPORT_NCCL_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int nccl_status;  // ncclResult_t; those that are told apart:
enum { NCCL_GOOD = 0, NCCL_IN_PROGRESS = 7 };
enum { NCCL_UINT8 = 1 };  // ncclDataType_t

typedef struct nccl_comm nccl_comm;  // ncclComm
typedef struct nccl_id {             // ncclUniqueId
  char bytes[128];
} nccl_id;

// The beginning of ncclConfig_t, as NCCL 2.14 had it; later versions take it by its size and
// version.
typedef struct nccl_config {
  size_t size;
  unsigned magic, version;
  int blocking;
} nccl_config;
enum { NCCL_LEAST = 21400 };
#define NCCL_MAGIC 0xcafebeefU

#define NCCL_CALLS(CALL)                                                                           \
  CALL(get_version, ncclGetVersion, (int *version))                                                \
  CALL(get_unique_id, ncclGetUniqueId, (nccl_id * id))                                             \
  CALL(comm_init, ncclCommInitRankConfig,                                                          \
       (nccl_comm * *comm, int ranks, nccl_id id, int rank, nccl_config *config))                  \
  CALL(comm_finalize, ncclCommFinalize, (nccl_comm * comm))                                        \
  CALL(comm_destroy, ncclCommDestroy, (nccl_comm * comm))                                          \
  CALL(comm_abort, ncclCommAbort, (nccl_comm * comm))                                              \
  CALL(comm_error, ncclCommGetAsyncError, (nccl_comm * comm, nccl_status * status))                \
  CALL(group_start, ncclGroupStart, (void))                                                        \
  CALL(group_end, ncclGroupEnd, (void))                                                            \
  CALL(send, ncclSend,                                                                             \
       (const void *data, size_t count, int type, int to, nccl_comm *comm, void *stream))          \
  CALL(receive, ncclRecv,                                                                          \
       (void *data, size_t count, int type, int from, nccl_comm *comm, void *stream))

typedef struct nccl_library {
  int version;  // 22809: 2.28.9
  const char *(*error_string)(nccl_status status);
  const char *(*last_error)(nccl_comm *comm);
#define NCCL_FIELD(name, symbol, parameters) nccl_status(*name) parameters;
  NCCL_CALLS(NCCL_FIELD)
#undef NCCL_FIELD
} nccl_library;

// What the variable PERMC_NCCL says.
typedef enum nccl_wanted { NCCL_IF_ANY, NCCL_NAMED, NCCL_OFF } nccl_wanted;
nccl_wanted nccl_library_wanted(void);

// The one that PERMC_NCCL names, by its path or folder; else one that is loaded, the system's, or
// CUDA's. Loaded once, and never unloaded.
const nccl_library *nccl_library_find(char *why, size_t size);

#endif
