// The MPI of this machine, loaded at run time: permc is built without one. MPI says what its
// functions do, but not how a communicator or a type is represented. There are three ways (mpi_abi
// in mpi_library.c): that of Open MPI, that of MPICH and its relatives, and that of MPI 5.0's ABI,
// which will be the only one. Handles are passed as pointers: where they are numbers, a function
// takes the lower half of the register. Private to runtime/transport.
//
//   const mpi_library *m = mpi_library_find(why, sizeof why);   // NULL: why, one line
//   mpi_handle request;
//   m->isend(data, 8, m->byte, to, tag, m->world, &request);
#ifndef PERMC_RUNTIME_TRANSPORT_MPI_LIBRARY_H
#define PERMC_RUNTIME_TRANSPORT_MPI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

// A handle as MPI stores it: a communicator, a request, an error handler.
typedef union mpi_handle {
  void *pointer;
  int number;
} mpi_handle;

typedef struct mpi_status {  // larger than any
  _Alignas(16) unsigned char bytes[128];
} mpi_status;

typedef void mpi_error_handler(void *comm, int *code, ...);
// Of what is kept with a communicator: when that is copied, and when it, or the communicator, ends.
typedef int mpi_copy(void *comm, int key, void *with, void *kept, void *copy, int *copies);
typedef int mpi_delete(void *comm, int key, void *kept, void *with);

#define MPI_CALLS(ROW)                                                                             \
  ROW(initialized, MPI_Initialized, (int *yes))                                                    \
  ROW(finalized, MPI_Finalized, (int *yes))                                                        \
  ROW(init_thread, MPI_Init_thread, (int *count, char ***words, int level, int *got))              \
  ROW(query_thread, MPI_Query_thread, (int *level))                                                \
  ROW(is_main, MPI_Is_thread_main, (int *yes))                                                     \
  ROW(finalize, MPI_Finalize, (void))                                                              \
  ROW(comm_rank, MPI_Comm_rank, (void *comm, int *rank))                                           \
  ROW(comm_size, MPI_Comm_size, (void *comm, int *ranks))                                          \
  ROW(comm_idup, MPI_Comm_idup, (void *comm, mpi_handle *copy, mpi_handle *request))               \
  ROW(comm_free, MPI_Comm_free, (mpi_handle * comm))                                               \
  ROW(new_key, MPI_Comm_create_keyval, (mpi_copy * copy, mpi_delete * end, int *key, void *with))  \
  ROW(keep, MPI_Comm_set_attr, (void *comm, int key, void *kept))                                  \
  ROW(kept, MPI_Comm_get_attr, (void *comm, int key, void *kept, int *found))                      \
  ROW(drop, MPI_Comm_delete_attr, (void *comm, int key))                                           \
  ROW(new_handler, MPI_Comm_create_errhandler, (mpi_error_handler * run, mpi_handle * handler))    \
  ROW(set_handler, MPI_Comm_set_errhandler, (void *comm, void *handler))                           \
  ROW(free_handler, MPI_Errhandler_free, (mpi_handle * handler))                                   \
  ROW(isend, MPI_Isend,                                                                            \
      (const void *data, int count, void *type, int to, int tag, void *comm, mpi_handle *request)) \
  ROW(irecv, MPI_Irecv,                                                                            \
      (void *data, int count, void *type, int from, int tag, void *comm, mpi_handle *request))     \
  ROW(test, MPI_Test, (mpi_handle * request, int *done, mpi_status *status))                       \
  ROW(request_free, MPI_Request_free, (mpi_handle * request))                                      \
  ROW(cancel, MPI_Cancel, (mpi_handle * request))                                                  \
  ROW(get_count, MPI_Get_count, (const mpi_status *status, void *type, int *count))                \
  ROW(error_class, MPI_Error_class, (int code, int *class))                                        \
  ROW(error_string, MPI_Error_string, (int code, char *text, int *length))

typedef struct mpi_library {
  char name[512];
  void *world, *byte;
  bool numbers;                           // handles are
  int any_source, serialized, truncated;  // MPI_ANY_SOURCE, MPI_THREAD_SERIALIZED, MPI_ERR_TRUNCATE
#define ROW(name, symbol, parameters) int(*name) parameters;
  MPI_CALLS(ROW)
#undef ROW
} mpi_library;

// The value of a handle, to be passed.
static inline void *mpi_value(const mpi_library *m, const mpi_handle *h) {
  return m->numbers ? (void *)(ptrdiff_t)h->number : h->pointer;
}

// That which is in the process already, else that of the launcher, else any. The variable PERMC_MPI
// names another. Loaded once, and never unloaded.
const mpi_library *mpi_library_find(char *why, size_t size);

#endif
