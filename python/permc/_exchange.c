// Calls on tensors of a library whose types have its DLPack functions in C (DLPack 1.2,
// __dlpack_c_exchange_api__), as PyTorch's do since 2.10: no attribute of a tensor but those that
// must be false is read, and results are made by the library without Python.
//
//   ready = _permc.Ready()
//   ready.add(torch.Tensor, ("requires_grad",), (keys,), program, (), math.inf)     once
//   ready([keys], None)                                              the result
//   ready([keys[::2]], None)                                         NotImplemented
//
// NumPy's arrays come by their buffers, and results from what makes them:
//
//   ready.add(numpy.ndarray, (), (keys,), program, (functools.partial(numpy.empty, 4, "u4"),), 1.0)
//
// Where it answers NotImplemented, __init__.py has the long way, and the messages.
//
// A form is what a program is for: the type, shape and device of each argument, as words. Forms are
// added in front of a list, which is read without a lock, and freed with the object.
#include "_permc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  MOST_TENSORS = 8,
  MOST_RANK = 8,
  MOST_WORDS = MOST_TENSORS * (2 + MOST_RANK),
  MOST_FORMS = 64
};
enum { ALIGNMENT = 16 };  // of memory that a GPU's program works on

typedef struct dl_exchange {
  uint32_t major, minor;
  const struct dl_exchange *older;
  int (*allocate)(dl_tensor *like, dl_versioned **out, void *with,
                  void (*fail)(void *with, const char *kind, const char *message));
  int (*managed_of_object)(void *object, dl_versioned **out);
  int (*object_of_managed)(dl_versioned *managed, void **out);  // takes it
  int (*tensor_of_object)(void *object, dl_tensor *out);        // which stays the object's
  int (*stream)(int32_t device_type, int32_t device, void **out);
} dl_exchange;

// A result: what to make.
typedef struct result_form {
  dl_tensor like;  // without data
  int64_t dims[MOST_RANK];
} result_form;

typedef struct call_form {
  struct call_form *next;
  PyTypeObject *type;
  const dl_exchange *exchange;  // NULL: they come by their buffers, and
  PyObject *makers;             //   these functions of nothing, a tuple, make the results
  PyObject *refused;            // a tuple of names
  program_object *program;
  double seconds, left;  // that the last call has taken that was timed; that calls may take yet
  bool is_short;         // they are so few that nobody waits for a call, nor interrupts it
  size_t argument_count, result_count, word_count;
  int64_t words[MOST_WORDS];
  result_form results[MOST_TENSORS];
  dl_tensor workspace;  // bytes
  int64_t workspace_bytes;
  unsigned process;  // that of a GPU's: a child has no memory there, which the long way says
} call_form;

typedef struct ready_object {
  PyObject_HEAD _Atomic(call_form *) forms;
  size_t count;
} ready_object;

static void ready_dealloc(PyObject *self) {
  for (call_form *f = atomic_load(&((ready_object *)self)->forms), *next; f; f = next) {
    next = f->next;
    Py_XDECREF((PyObject *)f->type);
    Py_XDECREF(f->makers);
    Py_XDECREF(f->refused);
    Py_XDECREF((PyObject *)f->program);
    free(f);
  }
  free_object(self);
}

// ---- tensors -----------------------------------------------------------------------------------

static bool is_compact(const dl_tensor *t) {
  int64_t next = 1;
  for (int32_t i = t->rank; t->strides && i-- > 0; next *= t->dims[i])
    if (t->dims[i] != 1 && t->strides[i] != next)
      return false;
  return (((uintptr_t)t->data + t->offset) & (ALIGNMENT - 1)) == 0;
}

// Appends what a program has to know of a tensor. False: there are too many.
static bool add_words(const dl_tensor *t, int64_t *words, size_t *count) {
  if (t->rank > MOST_RANK || *count + 2 + (size_t)t->rank > MOST_WORDS)
    return false;
  words[(*count)++] = (int64_t)t->device_type << 32 | (uint32_t)t->device_id;
  words[(*count)++] =
      (int64_t)t->rank << 32 | (int64_t)t->lanes << 16 | (int64_t)t->bits << 8 | t->kind;
  for (int32_t i = 0; i < t->rank; i++)
    words[(*count)++] = t->dims[i];
  return true;
}

// Whether all attributes of these names are false, or give false.
static bool is_plain(PyObject *tensor, PyObject *refused) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(refused); i++) {
    PyObject *value = PyObject_GetAttr(tensor, PyTuple_GetItem(refused, i));
    if (value && PyCallable_Check(value)) {
      PyObject *called = PyObject_CallNoArgs(value);
      Py_DECREF(value);
      value = called;
    }
    bool plain = value == Py_False;
    Py_XDECREF(value);
    if (!plain)
      return false;
  }
  return true;
}

// The array behind a buffer that has one, which is held until the call's end.
static bool tensor_of_buffer(PyObject *object, Py_buffer *held, dl_tensor *out) {
  const dl_type *type = NULL;
  if (PyObject_GetBuffer(object, held, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT))
    return false;
  bool is_long = strchr("lL", held->format[0]) && !held->format[1];
  for (size_t i = 0; i < DL_TYPES && !type; i++)
    if (is_long
            ? dl_types[i].format[0] == (held->format[0] == 'l' ? 'q' : 'Q') && held->itemsize == 8
            : !strcmp(dl_types[i].format, held->format))
      type = &dl_types[i];
  if (!type)
    return false;
  *out = (dl_tensor){.data = held->buf,
                     .device_type = DL_HOST,
                     .rank = held->ndim,
                     .kind = type->kind,
                     .bits = type->bits,
                     .lanes = 1,
                     .dims = (int64_t *)held->shape};
  return true;
}

// The tensor of an object of the form's library. False: it is none that can be taken as it is; an
// error may be set.
static bool find_tensor(PyObject *object, const call_form *f, dl_tensor *out, Py_buffer *held) {
  if (Py_TYPE(object) != f->type)
    return false;
  return (f->exchange ? f->exchange->tensor_of_object(object, out) == 0
                      : tensor_of_buffer(object, held, out)) &&
         is_compact(out);
}

// ---- forms -------------------------------------------------------------------------------------

static const dl_exchange *exchange_of(PyTypeObject *type) {
  PyObject *capsule = PyObject_GetAttrString((PyObject *)type, "__dlpack_c_exchange_api__");
  const dl_exchange *e = capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
  Py_XDECREF(capsule);
  PyErr_Clear();
  while (e && e->major != DL_MAJOR)
    e = e->older;
  return e && e->tensor_of_object ? e : NULL;
}

static const dl_type *type_named(const char *name) {
  for (size_t i = 0; i < DL_TYPES; i++)
    if (!strcmp(dl_types[i].name, name))
      return &dl_types[i];
  return NULL;
}

// What a result is, on that device. False: it is no plain array.
static bool describe_result(const permc_value *v, const dl_tensor *where, result_form *out) {
  const dl_type *type = permc_value_components(v) == 1 ? type_named(permc_value_type(v, 0)) : NULL;
  uint32_t rank = type ? permc_value_rank(v, 0) : 0;
  if (!type || rank > MOST_RANK)
    return false;
  for (uint32_t i = 0; i < rank; i++)
    out->dims[i] = (int64_t)permc_value_dims(v, 0)[i];
  out->like = (dl_tensor){.device_type = where->device_type,
                          .device_id = where->device_id,
                          .rank = (int32_t)rank,
                          .kind = type->kind,
                          .bits = type->bits,
                          .lanes = 1,
                          .dims = out->dims};
  return true;
}

// Bytes of bool in a buffer may be any: the long way looks at them.
static bool describe_call(call_form *f, PyObject *arguments, Py_buffer *held) {
  const permc_compiled *c = f->program->compiled;
  dl_tensor t = {0};
  f->argument_count = (size_t)PyTuple_Size(arguments);
  if (f->argument_count == 0 || f->argument_count > MOST_TENSORS ||
      permc_compiled_argument(c, f->argument_count))
    return false;
  for (size_t i = 0; i < f->argument_count; i++)
    if (!find_tensor(PyTuple_GetItem(arguments, (Py_ssize_t)i), f, &t, &held[i]) ||
        (!f->exchange && t.kind == DL_BOOL) || !add_words(&t, f->words, &f->word_count) ||
        !permc_compiled_argument(c, i) ||
        permc_value_components(permc_compiled_argument(c, i)) != 1)
      return false;
  for (; permc_compiled_result(c, f->result_count); f->result_count++)
    if (f->argument_count + f->result_count == MOST_TENSORS ||
        !describe_result(permc_compiled_result(c, f->result_count), &t,
                         &f->results[f->result_count]))
      return false;
  if (t.device_type != DL_HOST && t.device_type != DL_CUDA)
    return false;
  f->workspace_bytes = t.device_type == DL_CUDA ? (int64_t)permc_workspace_bytes(c) : 0;
  f->workspace = (dl_tensor){.device_type = t.device_type,
                             .device_id = t.device_id,
                             .rank = 1,
                             .kind = 1,
                             .bits = 8,
                             .lanes = 1,
                             .dims = &f->workspace_bytes};
  return f->result_count > 0 && (f->exchange || (size_t)PyTuple_Size(f->makers) == f->result_count);
}

static void release_buffers(Py_buffer *held) {
  for (int i = 0; i < MOST_TENSORS; i++)
    if (held[i].obj)
      PyBuffer_Release(&held[i]);
}

// add(type, refused, arguments, program, makers, seconds): from now on such arguments are called
// without Python, if the library of the type can do so. refused: attributes and methods of tensors that must
// be false. makers: of the results, where the library has no functions in C; or ().
// seconds: that calls take in all until they go the long way again.
static PyObject *ready_add(PyObject *self, PyObject *args) {
  ready_object *r = (ready_object *)self;
  PyObject *type, *refused, *arguments, *program, *makers;
  Py_buffer held[MOST_TENSORS] = {0};
  double seconds;
  if (!PyArg_ParseTuple(args, "O!O!O!O!O!d", &PyType_Type, &type, &PyTuple_Type, &refused,
                        &PyTuple_Type, &arguments, program_type, &program, &PyTuple_Type, &makers,
                        &seconds))
    return NULL;
  call_form form = {.process = process_number,
                    .type = (PyTypeObject *)type,
                    .exchange = exchange_of((PyTypeObject *)type),
                    .makers = makers,
                    .left = seconds,
                    .refused = refused,
                    .program = (program_object *)program};
  call_form *before = atomic_load(&r->forms);
  bool described = (form.exchange || PyTuple_Size(makers)) && r->count < MOST_FORMS &&
                   !(before && before->type != form.type) && describe_call(&form, arguments, held);
  release_buffers(held);
  if (!described) {
    PyErr_Clear();
    Py_RETURN_NONE;
  }
  call_form *f = malloc(sizeof *f);
  if (!f)
    return PyErr_NoMemory();
  *f = form;
  for (size_t i = 0; i < f->result_count; i++)
    f->results[i].like.dims = f->results[i].dims;
  f->workspace.dims = &f->workspace_bytes;
  Py_INCREF(type);
  Py_INCREF(makers);
  Py_INCREF(refused);
  Py_INCREF(program);
  f->next = before;
  r->count++;
  atomic_store(&r->forms, f);
  Py_RETURN_NONE;
}

// ---- calls -------------------------------------------------------------------------------------

// What one call has.
typedef struct tensor_call {
  call_form *form;
  PyObject *made[MOST_TENSORS];  // the results
  dl_tensor tensors[MOST_TENSORS];
  permc_value *values[MOST_TENSORS];
  Py_buffer held[MOST_TENSORS];  // that the tensors are of
  dl_versioned *workspace;
} tensor_call;

static void fail_to_make(void *with, const char *kind, const char *message) {
  (void)with;
  PyErr_SetString(strcmp(kind, "MemoryError") == 0 ? PyExc_MemoryError : PyExc_RuntimeError,
                  message);
}

static dl_versioned *make_memory(const dl_exchange *e, const dl_tensor *like) {
  dl_tensor wanted = *like;
  dl_versioned *made = NULL;
  return e->allocate(&wanted, &made, NULL, fail_to_make) == 0 ? made : NULL;
}

// The form that the arguments have, and their tensors. NULL: none.
static call_form *find_form(ready_object *r, PyObject *arguments, tensor_call *c) {
  call_form *f = atomic_load(&r->forms);
  size_t count = (size_t)PyTuple_Size(arguments), word_count = 0;
  int64_t words[MOST_WORDS];
  if (!f || count == 0 || count > MOST_TENSORS)
    return NULL;
  for (size_t i = 0; i < count; i++)  // all forms are of one library
    if (!find_tensor(PyTuple_GetItem(arguments, (Py_ssize_t)i), f, &c->tensors[i], &c->held[i]) ||
        !add_words(&c->tensors[i], words, &word_count))
      return NULL;
  for (; f; f = f->next)
    if (f->left > 0 && (f->process == process_number || f->workspace.device_type != DL_CUDA) &&
        f->argument_count == count && f->word_count == word_count &&
        !memcmp(f->words, words, word_count * sizeof *words))
      break;
  for (size_t i = 0; i < count && f; i++)
    if (!is_plain(PyTuple_GetItem(arguments, (Py_ssize_t)i), f->refused))
      return NULL;
  return f;
}

// The caller's array for a result. False: it is another, or none that can be taken as it is.
// (NumPy's may be read-only: the long way says so.)
static bool take_output(tensor_call *c, size_t number, PyObject *object) {
  int64_t words[MOST_WORDS], wanted[MOST_WORDS];
  size_t count = 0, wanted_count = 0;
  dl_tensor *t = &c->tensors[c->form->argument_count + number];
  if (!c->form->exchange || !find_tensor(object, c->form, t, NULL) ||
      !is_plain(object, c->form->refused) || !add_words(t, words, &count) ||
      !add_words(&c->form->results[number].like, wanted, &wanted_count) || count != wanted_count ||
      memcmp(words, wanted, count * sizeof *words))
    return false;
  Py_INCREF(object);
  c->made[number] = object;
  return true;
}

static bool make_output(tensor_call *c, size_t number) {
  const dl_exchange *e = c->form->exchange;
  size_t at = c->form->argument_count + number;
  if (!e) {
    c->made[number] = PyObject_CallNoArgs(PyTuple_GetItem(c->form->makers, (Py_ssize_t)number));
    return c->made[number] && find_tensor(c->made[number], c->form, &c->tensors[at], &c->held[at]);
  }
  dl_versioned *managed = make_memory(e, &c->form->results[number].like);
  void *object = NULL;
  if (!managed)
    return false;
  c->tensors[at] = managed->tensor;  // the object's memory
  if (e->object_of_managed(managed, &object))
    return false;
  c->made[number] = object;
  return true;
}

// False without an error: `out` is left to the long way.
static bool find_outputs(tensor_call *c, PyObject *out) {
  size_t count = c->form->result_count;
  bool listed = PyTuple_Check(out) && count > 1;
  if (out != Py_None && count > 1 && (!listed || (size_t)PyTuple_Size(out) != count))
    return false;
  for (size_t i = 0; i < count; i++)
    if (!(out == Py_None ? make_output(c, i)
                         : take_output(c, i, listed ? PyTuple_GetItem(out, (Py_ssize_t)i) : out)))
      return false;
  return true;
}

static bool borrow_tensors(tensor_call *c) {
  const call_form *f = c->form;
  const permc_compiled *p = f->program->compiled;
  for (size_t i = 0; i < f->argument_count + f->result_count; i++) {
    const dl_tensor *t = &c->tensors[i];
    const permc_value *like = i < f->argument_count
                                  ? permc_compiled_argument(p, i)
                                  : permc_compiled_result(p, i - f->argument_count);
    permc_error why = {PERMC_OK, ""};
    permc_memory memory = {.type = permc_value_type(like, 0),
                           .rank = permc_value_rank(like, 0),
                           .dims = permc_value_dims(like, 0),
                           .data = (char *)t->data + t->offset,
                           .device = t->device_type == DL_CUDA ? t->device_id : PERMC_HOST};
    if (!(c->values[i] = permc_value_borrow(&memory, &why)))
      return raise_code(why.code, why.message), false;
  }
  return true;
}

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Short calls keep the others waiting, who would take longer to be let in.
static permc_code call_program(call_form *f, permc_value *const *values,
                               const permc_call_options *options, permc_error *why) {
  const double shortest = 2e-5;
  bool on_host = f->workspace.device_type != DL_CUDA;
  permc_code code;
  f->left -= f->seconds;
  if (f->is_short)
    return permc_call(f->program->compiled, values, f->argument_count, values + f->argument_count,
                      f->result_count, options, why);
  double begin = seconds_now();
  WITHOUT_GIL(on_host ? f->program->context->context : NULL,
              code = permc_call(f->program->compiled, values, f->argument_count,
                                values + f->argument_count, f->result_count, options, why));
  f->seconds = seconds_now() - begin;
  f->is_short = on_host && code == PERMC_OK && f->seconds < shortest;
  return code;
}

static bool run(tensor_call *c) {
  call_form *f = c->form;
  permc_call_options options = {0};
  permc_error why = {PERMC_OK, ""};
  if (f->workspace.device_type == DL_CUDA &&
      f->exchange->stream(DL_CUDA, f->workspace.device_id, &options.stream))
    return false;
  if (f->workspace_bytes) {
    if (!(c->workspace = make_memory(f->exchange, &f->workspace)))
      return false;
    options.workspace = (char *)c->workspace->tensor.data + c->workspace->tensor.offset;
    options.workspace_bytes = (uint64_t)f->workspace_bytes;
  }
  permc_code code;
  do {
    code = call_program(f, c->values, &options, &why);
  } while (ended_in_vain(code));
  return code == PERMC_OK || (raise_code(code, why.message), false);
}

// The result, or a tuple of them; takes them from the call.
static PyObject *give_results(tensor_call *c) {
  size_t count = c->form->result_count;
  PyObject *all = count == 1 ? c->made[0] : PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; i < count && all; i++) {
    if (count > 1)
      PyTuple_SetItem(all, (Py_ssize_t)i, c->made[i]);
    c->made[i] = NULL;
  }
  return all;
}

// ready(arguments, out)
static PyObject *ready_call(PyObject *self, PyObject *args, PyObject *words) {
  tensor_call c = {0};
  PyObject *arguments, *out, *given = NULL;
  (void)words;
  if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &arguments, &out))
    return NULL;
  c.form = find_form((ready_object *)self, arguments, &c);
  if (c.form && find_outputs(&c, out) && borrow_tensors(&c) && run(&c))
    given = give_results(&c);
  for (int i = 0; i < MOST_TENSORS; i++) {
    permc_value_free(c.values[i]);
    Py_XDECREF(c.made[i]);
  }
  release_buffers(c.held);
  if (c.workspace)
    c.workspace->deleter(c.workspace);
  if (given || (c.form && PyErr_Occurred()))
    return given;
  PyErr_Clear();
  Py_RETURN_NOTIMPLEMENTED;
}

static PyObject *ready_new(PyTypeObject *type, PyObject *args, PyObject *words) {
  (void)args, (void)words;
  return allocate_object(type);
}

static PyMethodDef ready_methods[] = {
    {"add", ready_add, METH_VARARGS, "add(type, refused, arguments, program, makers, seconds)"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot ready_slots[] = {{Py_tp_new, ready_new},
                                    {Py_tp_dealloc, ready_dealloc},
                                    {Py_tp_call, ready_call},
                                    {Py_tp_methods, ready_methods},
                                    {0, NULL}};
PyType_Spec ready_spec = {"permc._permc.Ready", sizeof(ready_object), 0, Py_TPFLAGS_DEFAULT,
                          ready_slots};
