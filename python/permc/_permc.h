// What the files of the module _permc share. Private to it.
//
//   _permc.c     contexts, programs, calls of them on lists of memory; the module
//   _ranks.c     what connects ranks, and where their parts of arrays begin
//   _exchange.c  calls on tensors of a library that has its DLPack functions in C
//   _tool.c      the command-line tool
#ifndef PERMC_PYTHON_PERMC_H
#define PERMC_PYTHON_PERMC_H

// A Python without the GIL has no stable ABI before 3.15. Nothing here that is written to is of two
// threads: a context is used by one at a time (Program._lock in __init__.py), a compiled program is
// not written to, and what else is shared is atomic.
#define PY_SSIZE_T_CLEAN
#include <pyconfig.h>
#ifndef Py_GIL_DISABLED
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>

#include <permc.h>

typedef struct context_object {
  PyObject_HEAD permc_context *context;
  PyObject *carry;  // the function for messages of its ranks; or NULL
} context_object;

typedef struct program_object {
  PyObject_HEAD context_object *context;
  permc_compiled *compiled;
} program_object;

extern PyTypeObject *program_type;
extern unsigned process_number;  // this one's number: 1, or in a child of fork one more
extern PyType_Spec ready_spec;   // _exchange.c

// _ranks.c, of a context
PyObject *context_use_ranks(PyObject *self, PyObject *args);
PyObject *context_place(PyObject *self, PyObject *args);
PyObject *context_refuse(PyObject *self, PyObject *args);
permc_carry carry_messages;  // by a function of Python
// Of what is raised before a call reaches the other ranks.
void refuse_call(permc_context *c, const char *cause);

// _tool.c
PyObject *run_tool(PyObject *self, PyObject *args);

// Raises what the code stands for, with the message; returns NULL.
PyObject *raise_code(permc_code code, const char *message);
PyObject *raise_argument(const char *message);
void raised_line(permc_error *why);  // the first line of what is raised, and stays so

// Around a call on the context: other threads run meanwhile, and Ctrl-C ends it. NULL: one that
// does not wait for its work.
void begin_call(permc_context *context);
void end_call(void);
#define WITHOUT_GIL(context, call)                                                                 \
  do {                                                                                             \
    begin_call(context);                                                                           \
    Py_BEGIN_ALLOW_THREADS;                                                                        \
    call;                                                                                          \
    Py_END_ALLOW_THREADS;                                                                          \
    end_call();                                                                                    \
  } while (0)

// Whether a signal ended the call, and its handler in Python raised nothing: then it is called
// again, as Python calls functions of the system again (PEP 475).
bool ended_in_vain(permc_code code);

// A new object of a type that is on the heap, zeros; and its end.
PyObject *allocate_object(PyTypeObject *type);
void free_object(PyObject *self);

// ---- DLPack ------------------------------------------------------------------------------------

// Arrays of other libraries, as https://dmlc.github.io/dlpack/latest has them.
enum { DL_HOST = 1, DL_CUDA = 2, DL_MAJOR = 1, DL_BOOL = 6 };

typedef struct dl_tensor {
  void *data;
  int32_t device_type, device_id;  // 1: the processor; 2: a GPU
  int32_t rank;
  uint8_t kind, bits;  // 0: signed, 1: unsigned, 2: float, 4: bf16, 5: complex, 6: bool
  uint16_t lanes;
  int64_t *dims, *strides;  // of elements; strides NULL: row-major
  uint64_t offset;          // bytes
} dl_tensor;

typedef struct dl_versioned {
  uint32_t major, minor;
  void *owner;
  void (*deleter)(struct dl_versioned *self);
  uint64_t flags;  // bit 0: read-only
  dl_tensor tensor;
} dl_versioned;

// The element types of permc that DLPack has; `format`: as the buffer protocol says it, and
// of bf16, which it lacks, as ml_dtypes does.
typedef struct dl_type {
  const char *name;
  uint8_t kind, bits;
  const char *format;
} dl_type;

enum { DL_TYPES = 15 };
extern const dl_type dl_types[DL_TYPES];

#endif
