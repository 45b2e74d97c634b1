// What the two halves of the fake driver share: fake_cuda_state.c (settings, what there is, and
// what is to be done later) and fake_cuda.c (the calls).
#ifndef PERMC_TESTS_FAKE_CUDA_STATE_H
#define PERMC_TESTS_FAKE_CUDA_STATE_H

#include "runtime/cuda/driver.h"
#include "tests/unit/fake_cuda.h"

#include <stdbool.h>

enum {
  INVALID_VALUE = 1,
  NOT_INITIALIZED = 3,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  CAPTURE_UNSUPPORTED = 900
};

typedef struct fake_settings {
  int devices, driver, capability, memory, apart, same, reach, busy, slow, fault, at, status;
  char fail[64];
} fake_settings;
extern fake_settings fake_now;

// ---- what there is -----------------------------------------------------------------------------

typedef enum kind {
  MEMORY,
  FREED,  // memory, as soon as its stream comes to that
  HOST,
  SLAB,   // memory of a device, without an address
  RANGE,  // addresses, and the memory of the host that all of the slabs there are
  CONTEXT,
  SHARE,  // of a device's multiprocessors
  STREAM,
  EVENT,
  MODULE,
  FUNCTION,
  RECORDING,
  GRAPH
} kind;

// Of a kernel: what the test has defined, or a function of a library (fake_nvrtc.c).
typedef void fake_cuda_code(const uint64_t *parameters, unsigned blocks, void *scratch);
typedef struct definition {
  char name[64];
  unsigned parameter_count;
  fake_cuda_kernel *run;
  fake_cuda_code *code;
} definition;

typedef struct op op;

typedef struct object {
  struct object *next;
  struct object *context;  // that it is of
  kind kind;
  unsigned char *data;  // of memory
  size_t bytes;
  int device, users;     // of a context, of a slab
  size_t mapped;         // of a range: bytes; of a slab: 1 + its place in that range
  unsigned access;       // of a range: a bit for each device; of a context: those that it reaches
  struct object *range;  // of a slab: where it is mapped
  bool recorded;         // of an event: it was, and when
  float milliseconds;
  const definition *is;  // of a function
  definition own;        // ... of a library
  struct object *module;
  void *library;            // of a module
  struct object *captured;  // of a stream: the recording that is made of it
  int held;                 // of a stream: it waits for others' messages (fake_cuda_hold)
  int dynamic_shared;       // that it may have
  op *ops;                  // of a recording or graph
} object;

extern object *fake_objects;
extern _Thread_local object *fake_captured;  // the recording that the thread is making
extern bool fake_started;
extern _Thread_local object *fake_current[16];
extern _Thread_local size_t fake_depth;

object *new_object(kind k);
void remove_object(object *o);
// NULL: the handle, which may be anything, is of none of that kind.
object *lives(const void *handle, kind k);
// The memory that has all of these bytes.
object *holds(kind k, const void *data, size_t bytes);
const definition *definition_of(const char *name);

// Notes a mistake. Returns the status.
cuda_status wrong(cuda_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// How each call begins: counted, perhaps failing, and only with what it needs.
typedef enum need { NOTHING, DRIVER, CURRENT } need;
cuda_status begin_call(const char *symbol, need n);
#define BEGIN(need)                                                                                \
  LOCKED;                                                                                          \
  cuda_status early = begin_call(__func__, need);                                                  \
  if (early)                                                                                       \
  return early
// One call at a time, whatever thread it is of: until the function ends.
#define LOCKED __attribute__((cleanup(fake_unlock), unused)) int locked = fake_lock()
int fake_lock(void);
void fake_unlock(int *locked);

cuda_status check_handle(const void *handle, kind k, const char *symbol);
#define NEEDS(handle, kind)                                                                        \
  do {                                                                                             \
    if (check_handle(handle, kind, __func__))                                                      \
      return INVALID_HANDLE;                                                                       \
  } while (0)

// ---- work that is done later -------------------------------------------------------------------

struct op {
  op *next;
  void *to;  // copies: of bytes; `own`: what was copied when it was asked for
  const void *from;
  size_t bytes;
  unsigned char *own;
  object *event;         // to be recorded
  object *freed;         // memory that goes then; of a recording or graph: with that
  const definition *is;  // to be launched
  fake_cuda_launch launch;
  object *stream;       // that it was given to
  const object *graph;  // that it is of: launches of one graph come one after the other
};

extern op *fake_queue;  // what the streams have to do, in order
void append_op(op **to, const op *like);
// With bytes of their own; on that stream, of that graph.
void copy_ops(op **to, const op *from, object *stream, const object *graph);
void free_ops(op **ops);
// Has it done on the stream after all that came before, or recorded. Returns a good status.
cuda_status do_later(cuda_stream *stream, const op *o);
// Does what is to be done, up to a recording of the event (NULL: all).
cuda_status do_all(const object *until);
bool is_to_be_done(const object *event);
void forget_all(void);

#endif
