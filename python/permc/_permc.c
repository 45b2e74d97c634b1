// The C part of the Python package: contexts and compiled programs of libpermc (runtime/permc.h) as
// Python objects, on arrays in their own memory. What a function of permc is for Python is in
// __init__.py, which is the only user of this module.
//
//   context = _permc.Context()
//   context.define("sort")
//   program = context.compile("-e", None, "[4]u32")
//   program.call([keys], [out])             # any objects with a buffer; or (address, device)
//
// Compiled for the stable ABI of CPython 3.11, or for one Python without the GIL.
#include "_permc.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static PyObject *error_type;  // permc.Error

// ---- errors ------------------------------------------------------------------------------------

// Raises what the code stands for, with the message; returns NULL.
PyObject *raise_code(permc_code code, const char *message) {
  bool ended = code == PERMC_ERROR_INTERRUPTED || code == PERMC_ERROR_RANKS;
  if (ended && (PyErr_Occurred() || PyErr_CheckSignals()))
    return NULL;
  if (code == PERMC_ERROR_MEMORY) {
    PyErr_SetString(PyExc_MemoryError, message);
    return NULL;
  }
  size_t length = strlen(message);
  while (length && message[length - 1] == '\n')
    length--;
  PyObject *e = PyObject_CallFunction(error_type, "is#", (int)code, message, (Py_ssize_t)length);
  if (e) {
    PyErr_SetObject((PyObject *)Py_TYPE(e), e);
    Py_DECREF(e);
  }
  return NULL;
}

// As PyArg_ParseTuple; texts that C has no form for are no surprise of Python's, but an argument.
static bool parse_texts(PyObject *args, const char *format, ...) {
  va_list places;
  va_start(places, format);
  bool good = PyArg_VaParse(args, format, places) != 0;
  va_end(places);
  if (!good && PyErr_ExceptionMatches(PyExc_ValueError)) {
    PyErr_Clear();
    raise_argument("a program, a name or a path is text in UTF-8, without NUL");
  }
  return good;
}

PyObject *raise_argument(const char *message) { return raise_code(PERMC_ERROR_ARGUMENT, message); }

// ---- interruption ------------------------------------------------------------------------------

// What the main thread is in a call of, for the handler of SIGINT, which has Python's handler
// called.
static _Atomic(permc_context *) in_call;
static unsigned long main_thread;
static void (*earlier_handler)(int);

static void interrupt_call(int number) {
  if (earlier_handler)
    earlier_handler(number);  // first: who is interrupted asks Python why
  permc_context *context = atomic_load(&in_call);
  if (context)
    permc_interrupt(context);
}

// Each time, for others change the handler as well: signal.signal, notebooks.
static void chain_handler(void) {
  void (*now)(int) = PyOS_getsig(SIGINT);
  if (now != interrupt_call && now != SIG_DFL && now != SIG_IGN && now != SIG_ERR) {
    earlier_handler = now;
    PyOS_setsig(SIGINT, interrupt_call);
  }
}

// One of the main thread is ended by Ctrl-C.
void begin_call(permc_context *context) {
  if (!context || PyThread_get_thread_ident() != main_thread)
    return;
  chain_handler();
  atomic_store(&in_call, context);
}

void end_call(void) {
  if (PyThread_get_thread_ident() == main_thread)
    atomic_store(&in_call, NULL);
}

bool ended_in_vain(permc_code code) {
  return code == PERMC_ERROR_INTERRUPTED && PyThread_get_thread_ident() == main_thread &&
         PyErr_CheckSignals() == 0;
}

unsigned process_number;

static PyObject *set_main_thread(PyObject *self, PyObject *ident) {
  (void)self;
  main_thread = PyLong_AsUnsignedLong(ident);
  process_number++;
  atomic_store(&in_call, NULL);  // in a child of fork, what was there is of another thread
  if (PyErr_Occurred())
    return NULL;
  Py_RETURN_NONE;
}

// ---- contexts ----------------------------------------------------------------------------------

PyObject *allocate_object(PyTypeObject *type) {
  return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

void free_object(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyObject *context_new(PyTypeObject *type, PyObject *args, PyObject *words) {
  (void)args, (void)words;
  context_object *self = (context_object *)allocate_object(type);
  if (!self)
    return NULL;
  self->context = permc_context_new();
  if (!self->context) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  return (PyObject *)self;
}

static void context_dealloc(PyObject *self) {
  permc_context_free(((context_object *)self)->context);
  Py_XDECREF(((context_object *)self)->carry);
  free_object(self);
}

static PyObject *context_raise(permc_context *c) {
  return raise_code(permc_last_code(c), permc_message(c));
}

// What a call on the context has said, if it has failed; else None.
static PyObject *context_end(permc_context *c, bool good) {
  if (!good)
    return context_raise(c);
  Py_RETURN_NONE;
}

static PyObject *context_load(PyObject *self, PyObject *args) {
  permc_context *c = ((context_object *)self)->context;
  const char *path;
  bool good;
  if (!parse_texts(args, "s", &path))
    return NULL;
  WITHOUT_GIL(c, good = permc_load(c, path));
  return context_end(c, good);
}

static PyObject *context_load_text(PyObject *self, PyObject *args) {
  permc_context *c = ((context_object *)self)->context;
  const char *name, *text;
  Py_ssize_t length;
  bool good;
  if (!parse_texts(args, "ss#", &name, &text, &length))
    return NULL;
  WITHOUT_GIL(c, good = permc_load_text(c, name, text, (size_t)length));
  return context_end(c, good);
}

static PyObject *context_define(PyObject *self, PyObject *args) {
  permc_context *c = ((context_object *)self)->context;
  const char *expression;
  bool good;
  if (!parse_texts(args, "s", &expression))
    return NULL;
  WITHOUT_GIL(c, good = permc_define(c, expression));
  return context_end(c, good);
}

// {name: type} in the order of the source.
static PyObject *context_entries(PyObject *self, PyObject *none) {
  permc_context *c = ((context_object *)self)->context;
  PyObject *entries = PyDict_New();
  (void)none;
  for (size_t i = 0; entries && i < permc_entry_count(c); i++) {
    const char *name = permc_entry_name(c, i), *type = permc_entry_type(c, name);
    PyObject *word = type ? PyUnicode_FromString(type) : NULL;
    if (!word || PyDict_SetItemString(entries, name, word) < 0)
      Py_CLEAR(entries);
    Py_XDECREF(word);
  }
  return entries || PyErr_Occurred() ? entries : context_raise(c);
}

static PyObject *context_explain(PyObject *self, PyObject *args) {
  permc_context *c = ((context_object *)self)->context;
  const char *entry;
  permc_explain_options options = {0};
  int rules = 0;
  unsigned ranks = 0;
  char *text = NULL;
  bool good;
  if (!parse_texts(args, "szzzpI", &entry, &options.types, &options.target, &options.dump, &rules,
                   &ranks))
    return NULL;
  options.rules = rules;
  options.ranks = ranks;
  WITHOUT_GIL(c, good = permc_explain(c, entry, NULL, 0, &options, &text));
  if (!good)
    return context_raise(c);
  PyObject *result = PyUnicode_FromString(text);
  free(text);
  return result;
}

static PyObject *context_settings(PyObject *self, PyObject *args) {
  permc_context *c = ((context_object *)self)->context;
  int allow_extern, untrusted, fast_floats;
  Py_ssize_t threads;
  const char *strategy;
  if (!parse_texts(args, "ppnpz", &allow_extern, &untrusted, &threads, &fast_floats, &strategy))
    return NULL;
  if (threads < 0 || threads > INT32_MAX)
    return raise_argument("threads: a number of threads is expected, or 0");
  permc_allow_extern(c, allow_extern);
  if (untrusted)
    permc_use_untrusted(c);
  permc_use_threads(c, (unsigned)threads);
  permc_use_fast_floats(c, fast_floats);
  return context_end(c, permc_use_strategy(c, strategy));
}

static PyObject *context_define_extern(PyObject *self, PyObject *args) {
  permc_context *c = ((context_object *)self)->context;
  const char *name, *type;
  unsigned long long address;
  if (!parse_texts(args, "szK", &name, &type, &address))
    return NULL;
  return context_end(
      c, permc_define_extern(c, name, type, (permc_function *)(uintptr_t)address, NULL));
}

static PyObject *context_interrupt(PyObject *self, PyObject *none) {
  (void)none;
  permc_interrupt(((context_object *)self)->context);
  Py_RETURN_NONE;
}

// ---- values ------------------------------------------------------------------------------------

// An argument or a result of a call as values on its memory, one for each component.
typedef struct borrowed {
  permc_value *value;
  Py_buffer *buffers;  // held as long as the value
  size_t buffer_count;
} borrowed;

static void borrowed_end(borrowed *b) {
  permc_value_free(b->value);
  for (size_t i = 0; i < b->buffer_count; i++)
    PyBuffer_Release(&b->buffers[i]);
  PyMem_Free(b->buffers);
}

// Elements first, ..., first + count - 1, which this process has.
typedef struct part {
  bool given;
  unsigned long long first, count;
} part;

// The memory of a component: an object with a buffer, (address, device), or (buffer, first, count).
static bool find_memory(PyObject *from, borrowed *b, permc_memory *memory, part *p) {
  p->given = PyTuple_Check(from) && PyTuple_Size(from) == 3;
  if (p->given) {
    if (!PyArg_ParseTuple(from, "OKK", &from, &p->first, &p->count))
      return false;
  } else if (PyTuple_Check(from)) {
    unsigned long long address = 0;
    int device = 0;
    if (!PyArg_ParseTuple(from, "Ki", &address, &device))
      return false;
    memory->data = (void *)(uintptr_t)address;
    memory->device = device;
    return true;
  }
  Py_buffer *view = &b->buffers[b->buffer_count];
  if (PyObject_GetBuffer(from, view, p->given ? PyBUF_C_CONTIGUOUS : PyBUF_STRIDES) < 0)
    return false;
  b->buffer_count++;
  if ((uint32_t)view->ndim == memory->rank && !p->given)
    memory->strides = view->strides;
  memory->data = view->buf;
  memory->device = PERMC_HOST;
  memory->read_only = view->readonly;
  return true;
}

// Whether the memory of a component on the host has as many bytes as it must have, where they are
// known.
static bool has_room(const borrowed *b, const permc_value *like, size_t component, const part *p) {
  const uint64_t *dims = permc_value_dims(like, component);
  uint64_t bytes = 0;
  for (size_t i = 0; i < DL_TYPES; i++)
    if (!strcmp(dl_types[i].name, permc_value_type(like, component)))
      bytes = dl_types[i].bits / 8;
  for (uint32_t i = 0; i < permc_value_rank(like, component) && !p->given; i++)
    bytes *= dims[i];
  bytes *= p->given ? p->count : 1;
  return (uint64_t)b->buffers[b->buffer_count - 1].len == bytes;
}

// `from`: the memory of the only component, or a list of those of all. False: raised.
static bool borrow(PyObject *from, const permc_value *like, borrowed *b) {
  size_t count = permc_value_components(like);
  permc_value **parts = PyMem_Calloc(count, sizeof *parts);
  b->buffers = PyMem_Calloc(count, sizeof *b->buffers);
  size_t made = 0;
  if (!parts || !b->buffers) {
    PyErr_NoMemory();
  } else if (PyList_Check(from) && (size_t)PyList_Size(from) != count) {
    raise_argument("an array of tuples has another number of components");
  } else {
    for (; made < count; made++) {
      PyObject *item = PyList_Check(from) ? PyList_GetItem(from, (Py_ssize_t)made) : from;
      permc_error why = {PERMC_OK, ""};
      permc_memory memory = {.type = permc_value_type(like, made),
                             .rank = permc_value_rank(like, made),
                             .dims = permc_value_dims(like, made)};
      part p;
      if (!item || !find_memory(item, b, &memory, &p))
        break;
      if ((p.given || !PyTuple_Check(item)) && !has_room(b, like, made, &p)) {
        raise_argument("an array has another number of bytes than its type and shape say");
        break;
      }
      parts[made] = p.given ? permc_value_borrow_part(&memory, p.first, p.count, &why)
                            : permc_value_borrow(&memory, &why);
      if (!parts[made]) {
        raise_code(why.code, why.message);
        break;
      }
    }
  }
  bool all = made == count && parts;
  if (all && count == 1) {
    b->value = parts[0];
  } else if (all) {
    b->value = permc_value_tuple(parts, count);
    if (!b->value)
      PyErr_NoMemory();
  } else {
    for (size_t i = 0; i < made; i++)
      permc_value_free(parts[i]);
  }
  PyMem_Free(parts);
  return b->value != NULL;
}

// (type, shape) of each component.
static PyObject *describe(const permc_value *v) {
  size_t count = permc_value_components(v);
  PyObject *components = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; components && i < count; i++) {
    uint32_t rank = permc_value_rank(v, i);
    PyObject *shape = PyTuple_New(rank), *pair = NULL;
    for (uint32_t k = 0; shape && k < rank; k++) {
      PyObject *length = PyLong_FromUnsignedLongLong(permc_value_dims(v, i)[k]);
      if (!length || PyTuple_SetItem(shape, k, length) < 0)
        Py_CLEAR(shape);
    }
    if (shape)
      pair = Py_BuildValue("(sN)", permc_value_type(v, i), shape);
    if (!pair || PyTuple_SetItem(components, (Py_ssize_t)i, pair) < 0)
      Py_CLEAR(components);
  }
  return components;
}

// ---- programs ----------------------------------------------------------------------------------

PyTypeObject *program_type;

static void program_dealloc(PyObject *self) {
  program_object *p = (program_object *)self;
  permc_compiled_free(p->compiled);
  Py_XDECREF((PyObject *)p->context);
  free_object(self);
}

static PyObject *program_new(context_object *context, permc_compiled *compiled) {
  program_object *p = (program_object *)allocate_object(program_type);
  if (!p) {
    permc_compiled_free(compiled);
    return NULL;
  }
  Py_INCREF((PyObject *)context);
  p->context = context;
  p->compiled = compiled;
  return (PyObject *)p;
}

static PyObject *context_compile(PyObject *self, PyObject *args) {
  permc_context *c = ((context_object *)self)->context;
  const char *entry, *backend, *types;
  permc_compiled *compiled;
  int device;
  if (!parse_texts(args, "szsi", &entry, &backend, &types, &device))
    return NULL;
  if (!permc_use_device(c, device == PERMC_HOST ? 0 : device))
    return context_raise(c);
  do {
    WITHOUT_GIL(c, compiled = permc_compile_types(c, entry, backend, types));
  } while (!compiled && ended_in_vain(permc_last_code(c)));
  return compiled ? program_new((context_object *)self, compiled) : context_raise(c);
}

typedef const permc_value *describe_at(const permc_compiled *compiled, size_t number);

static PyObject *describe_all(PyObject *self, describe_at *at) {
  const permc_compiled *compiled = ((program_object *)self)->compiled;
  PyObject *all = PyList_New(0);
  for (size_t i = 0; all && at(compiled, i); i++) {
    PyObject *one = describe(at(compiled, i));
    if (!one || PyList_Append(all, one) < 0)
      Py_CLEAR(all);
    Py_XDECREF(one);
  }
  return all;
}

static PyObject *program_arguments(PyObject *self, PyObject *none) {
  (void)none;
  return describe_all(self, permc_compiled_argument);
}

static PyObject *program_results(PyObject *self, PyObject *none) {
  (void)none;
  return describe_all(self, permc_compiled_result);
}

static PyObject *program_backend(PyObject *self, PyObject *none) {
  const permc_compiled *compiled = ((program_object *)self)->compiled;
  (void)none;
  return Py_BuildValue("(sz)", permc_compiled_backend(compiled), permc_compiled_device(compiled));
}

static PyObject *program_workspace_bytes(PyObject *self, PyObject *none) {
  (void)none;
  return PyLong_FromUnsignedLongLong(permc_workspace_bytes(((program_object *)self)->compiled));
}

// Borrows all of a list. False: raised.
static bool borrow_all(PyObject *list, const permc_compiled *compiled, describe_at *at,
                       borrowed *out, permc_value **values) {
  for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
    const permc_value *like = at(compiled, (size_t)i);
    if (!like) {
      raise_argument("there are too many arrays");
      return false;
    }
    if (!borrow(PyList_GetItem(list, i), like, &out[i]))
      return false;
    values[i] = out[i].value;
  }
  return true;
}

// Whether a call on ranks has ended so together with the others: else its arguments are wrong here.
static bool is_known_to_all(permc_code code) {
  return code == PERMC_ERROR_RANKS || code == PERMC_ERROR_PROGRAM ||
         code == PERMC_ERROR_INTERRUPTED;
}

// call(arguments, results, stream, workspace, bytes): lists of memory, as the descriptions say;
// addresses, which may be left out.
static PyObject *program_call(PyObject *self, PyObject *args) {
  const program_object *p = (program_object *)self;
  PyObject *given, *made;
  unsigned long long stream = 0, workspace = 0, bytes = 0;
  if (!PyArg_ParseTuple(args, "O!O!|KKK", &PyList_Type, &given, &PyList_Type, &made, &stream,
                        &workspace, &bytes))
    return NULL;
  size_t given_count = (size_t)PyList_Size(given), made_count = (size_t)PyList_Size(made),
         count = given_count + made_count;
  borrowed *all = PyMem_Calloc(count + 1, sizeof *all);
  permc_value **values = PyMem_Calloc(count + 1, sizeof *values);
  permc_error why = {PERMC_OK, ""};
  permc_context *ranks = PyTuple_Size(args) > 2 ? NULL : p->context->context;
  bool good = all && values;
  if (!good)
    PyErr_NoMemory();
  good =
      good && borrow_all(given, p->compiled, permc_compiled_argument, all, values) &&
      borrow_all(made, p->compiled, permc_compiled_result, all + given_count, values + given_count);
  if (good) {
    permc_call_options options = {(void *)(uintptr_t)stream, (void *)(uintptr_t)workspace, bytes};
    permc_code code;
    do {
      WITHOUT_GIL(ranks,  // NULL: with a stream of a GPU
                  code = permc_call(p->compiled, values, given_count, values + given_count,
                                    made_count, &options, &why));
    } while (ended_in_vain(code));
    good = code == PERMC_OK || is_known_to_all(code);
    if (code != PERMC_OK)
      raise_code(code, why.message);
  }
  if (!good && ranks) {
    raised_line(&why);
    refuse_call(ranks, why.message);
  }
  for (size_t i = 0; all && i < count; i++)
    borrowed_end(&all[i]);
  PyMem_Free(all);
  PyMem_Free(values);
  if (PyErr_Occurred())
    return NULL;
  Py_RETURN_NONE;
}

// ---- DLPack ------------------------------------------------------------------------------------

const dl_type dl_types[DL_TYPES] = {
    {"i8", 0, 8, "b"},    {"i16", 0, 16, "h"},  {"i32", 0, 32, "i"},   {"i64", 0, 64, "q"},
    {"u8", 1, 8, "B"},    {"u16", 1, 16, "H"},  {"u32", 1, 32, "I"},   {"u64", 1, 64, "Q"},
    {"f16", 2, 16, "e"},  {"f32", 2, 32, "f"},  {"f64", 2, 64, "d"},   {"bool", 6, 8, "?"},
    {"bf16", 4, 16, "E"}, {"c64", 5, 64, "Zf"}, {"c128", 5, 128, "Zd"}};

// ---- the module --------------------------------------------------------------------------------

static PyMethodDef context_methods[] = {
    {"load", context_load, METH_VARARGS, "load(path)"},
    {"load_text", context_load_text, METH_VARARGS, "load_text(name, text)"},
    {"define", context_define, METH_VARARGS, "define(expression): the entry -e"},
    {"entries", context_entries, METH_NOARGS, "entries(): {name: type}"},
    {"explain", context_explain, METH_VARARGS, "explain(entry, types, target, dump, rules, ranks)"},
    {"settings", context_settings, METH_VARARGS,
     "settings(allow_extern, untrusted, threads, fast_floats, strategy)"},
    {"use_ranks", context_use_ranks, METH_VARARGS,
     "use_ranks(transport, count, communicator, rank, carry): (rank, processes)"},
    {"refuse", context_refuse, METH_VARARGS, "refuse(cause): a call, which the others end"},
    {"place", context_place, METH_VARARGS, "place(what, lengths): [(first, whole), ...]"},
    {"define_extern", context_define_extern, METH_VARARGS,
     "define_extern(name, type or None, address)"},
    {"compile", context_compile, METH_VARARGS, "compile(entry, backend, types, device): a Program"},
    {"interrupt", context_interrupt, METH_NOARGS, "interrupt(): ends calls in all threads"},
    {NULL, NULL, 0, NULL}};

static PyMethodDef program_methods[] = {
    {"call", program_call, METH_VARARGS,
     "call(arguments, results, stream=0, workspace=0, bytes=0)"},
    {"workspace_bytes", program_workspace_bytes, METH_NOARGS, "workspace_bytes(): of a call"},
    {"arguments", program_arguments, METH_NOARGS, "arguments(): [((type, shape), ...), ...]"},
    {"results", program_results, METH_NOARGS, "results(): [((type, shape), ...), ...]"},
    {"backend", program_backend, METH_NOARGS, "backend(): (backend, device)"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot context_slots[] = {{Py_tp_new, context_new},
                                      {Py_tp_dealloc, context_dealloc},
                                      {Py_tp_methods, context_methods},
                                      {0, NULL}};
static PyType_Spec context_spec = {"permc._permc.Context", sizeof(context_object), 0,
                                   Py_TPFLAGS_DEFAULT, context_slots};

static PyType_Slot program_slots[] = {
    {Py_tp_dealloc, program_dealloc}, {Py_tp_methods, program_methods}, {0, NULL}};
static PyType_Spec program_spec = {"permc._permc.Program", sizeof(program_object), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                   program_slots};

static PyObject *set_error_type(PyObject *self, PyObject *type) {
  (void)self;
  Py_XDECREF(error_type);
  Py_INCREF(type);
  error_type = type;
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"set_error_type", set_error_type, METH_O, "what errors are raised as: type(code, message)"},
    {"main", run_tool, METH_VARARGS, "main(words, connect): the tool's exit status"},
    {"set_main_thread", set_main_thread, METH_O, "the one whose calls Ctrl-C ends, by its ident"},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_permc", "See __init__.py.", -1, functions, NULL, NULL, NULL, NULL};

static bool add_type(PyObject *m, const char *name, PyType_Spec *spec) {
  PyObject *type = PyType_FromSpec(spec);
  bool good = type && PyModule_AddObjectRef(m, name, type) >= 0;
  Py_XDECREF(type);
  return good;
}

PyMODINIT_FUNC PyInit__permc(void) {
  PyObject *m = PyModule_Create(&module);
  program_type = (PyTypeObject *)PyType_FromSpec(&program_spec);
  if (m && program_type && PyModule_AddObjectRef(m, "Program", (PyObject *)program_type) >= 0 &&
      add_type(m, "Context", &context_spec) && add_type(m, "Ready", &ready_spec) &&
      PyModule_AddStringConstant(m, "version", permc_version()) >= 0) {
#ifdef Py_GIL_DISABLED
    PyUnstable_Module_SetGIL(m, Py_MOD_GIL_NOT_USED);
#endif
    return m;
  }
  Py_XDECREF(m);
  return NULL;
}
