// Contexts whose programs are shared among ranks (permc_use_ranks): what connects them, and where
// their parts of arrays begin.
//
//   context.use_ranks("mpi", 0, communicator, 0, None)
//   context.use_ranks(None, 4, 0, rank, carry)     # carry(sends, receives): [(rank, memory), ...]
//   context.place("u32", [5])                      # [(2, 12)]: elements 2, ..., 6 of 12
//   context.refuse("it has no keys")               # the others raise "rank 1: it has no keys"
#include "_permc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- messages by a function of Python ------------------------------------------------------------

// The first line of what is raised, and stays so.
void raised_line(permc_error *why) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject *text = value ? PyObject_Str(value) : NULL;
  const char *line = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  snprintf(why->message, sizeof why->message, "%.*s", line ? (int)strcspn(line, "\n") : 0,
           line ? line : "");
  Py_XDECREF(text);
  PyErr_Restore(type, value, trace);
}

// [(rank, memory), ...]; NULL: raised. Memory is writable also of what is sent, for libraries that
// take no other.
static PyObject *list_transfers(const permc_transfer *all, size_t count) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < count; i++) {
    PyObject *view = PyMemoryView_FromMemory(all[i].data, (Py_ssize_t)all[i].bytes, PyBUF_WRITE);
    PyObject *pair = view ? Py_BuildValue("(IN)", (unsigned)all[i].rank, view) : NULL;
    if (!pair || PyList_Append(list, pair) < 0)
      Py_CLEAR(list);
    Py_XDECREF(pair);
  }
  return list;
}

// What the function raises stays raised until the call of permc returns: see raise_code. In a
// thread of permc nothing may stay raised when that leaves Python: objects of PyTorch that then end
// wait for the GIL.
bool carry_messages(void *with, const permc_transfer *sends, size_t send_count,
                    const permc_transfer *receives, size_t receive_count, permc_error *why) {
  bool of_permc = !PyGILState_GetThisThreadState();
  PyGILState_STATE state = PyGILState_Ensure();
  bool good = false;
  if (!PyErr_Occurred()) {
    PyObject *out = list_transfers(sends, send_count);
    PyObject *in = out ? list_transfers(receives, receive_count) : NULL;
    PyObject *done = in ? PyObject_CallFunctionObjArgs(with, out, in, NULL) : NULL;
    good = done != NULL;
    if (!good)
      raised_line(why);
    Py_XDECREF(done);
    Py_XDECREF(in);
    Py_XDECREF(out);
    if (of_permc)
      PyErr_Clear();
  }
  PyGILState_Release(state);
  return good;
}

// use_ranks(transport, count, communicator, rank, carry): as the members of permc_ranks.
PyObject *context_use_ranks(PyObject *self, PyObject *args) {
  context_object *c = (context_object *)self;
  unsigned long long communicator;
  PyObject *function;
  permc_ranks ranks = {0};
  unsigned count, rank;
  bool good;
  if (!PyArg_ParseTuple(args, "zIKIO", &ranks.transport, &count, &communicator, &rank, &function))
    return NULL;
  ranks.count = count;
  ranks.rank = rank;
  ranks.communicator = (uintptr_t)communicator;
  if (function != Py_None) {
    Py_INCREF(function);
    Py_XDECREF(c->carry);
    c->carry = ranks.with = function;
    ranks.carry = carry_messages;
  }
  WITHOUT_GIL(c->context, good = permc_use_ranks(c->context, &ranks));
  if (!good)
    return raise_code(permc_last_code(c->context), permc_message(c->context));
  uint32_t processes;
  rank = permc_rank(c->context, &processes);
  return Py_BuildValue("(II)", rank, (unsigned)processes);
}

// ---- parts ---------------------------------------------------------------------------------------

// place(what, lengths): (first, whole) of each length.
PyObject *context_place(PyObject *self, PyObject *args) {
  permc_context *c = ((context_object *)self)->context;
  const char *what;
  PyObject *list, *placed = NULL;
  bool good;
  if (!PyArg_ParseTuple(args, "sO!", &what, &PyList_Type, &list))
    return NULL;
  size_t count = (size_t)PyList_Size(list);
  uint64_t *lengths = PyMem_Calloc(3 * count + 1, sizeof *lengths);
  if (!lengths)
    return PyErr_NoMemory();
  uint64_t *first = lengths + count, *whole = first + count;
  for (size_t i = 0; i < count; i++)
    lengths[i] = PyLong_AsUnsignedLongLong(PyList_GetItem(list, (Py_ssize_t)i));
  if (!PyErr_Occurred()) {
    WITHOUT_GIL(c, good = permc_place_parts(c, what, lengths, count, first, whole));
    placed = good ? PyList_New(0) : raise_code(permc_last_code(c), permc_message(c));
  }
  for (size_t i = 0; placed && i < count; i++) {
    PyObject *pair =
        Py_BuildValue("(KK)", (unsigned long long)first[i], (unsigned long long)whole[i]);
    if (!pair || PyList_Append(placed, pair) < 0)
      Py_CLEAR(placed);
    Py_XDECREF(pair);
  }
  PyMem_Free(lengths);
  return placed;
}

// The others end the call that this process does not make. What is raised stays so.
void refuse_call(permc_context *c, const char *cause) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  WITHOUT_GIL(c, permc_refuse_call(c, cause));
  if (type)
    PyErr_Restore(type, value, trace);
}

// refuse(cause): what the others raise is "rank 1: CAUSE".
PyObject *context_refuse(PyObject *self, PyObject *args) {
  const char *cause;
  if (!PyArg_ParseTuple(args, "s", &cause))
    return NULL;
  refuse_call(((context_object *)self)->context, cause);
  if (PyErr_Occurred())
    return NULL;
  Py_RETURN_NONE;
}
