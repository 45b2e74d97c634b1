// The command-line tool in this process (tool/tool.h).
//
//   _permc.main([b"permc", b"run", ...], connect)    # its exit status
//
// connect(seconds) gives the function that carries messages (_ranks.c) among the processes that
// torchrun has started, if the command line is of a run by them.
#include "_permc.h"

#include "tool/tool.h"

#include <stdio.h>
#include <unistd.h>

static PyObject *connect_function, *carry_function;

static bool connect_ranks(permc_ranks *ranks, permc_error *why) {
  PyGILState_STATE state = PyGILState_Ensure();
  carry_function = PyObject_CallFunction(connect_function, "d", ranks->timeout);
  if (!carry_function) {
    raised_line(why);
    PyErr_Clear();
  }
  PyGILState_Release(state);
  ranks->carry = carry_messages;
  ranks->with = carry_function;
  return carry_function != NULL;
}

// NULL-terminated; the words stay those of the list.
static char **words_of(PyObject *list) {
  Py_ssize_t count = PyList_Size(list);
  char **words = PyMem_Calloc((size_t)count + 1, sizeof *words);
  if (!words)
    PyErr_NoMemory();
  for (Py_ssize_t i = 0; words && i < count; i++)
    words[i] = PyBytes_AsString(PyList_GetItem(list, i));
  if (!PyErr_Occurred())
    return words;
  PyMem_Free(words);
  return NULL;
}

// `python -u`, which torchrun calls, has those of C written and read byte by byte.
static void buffer_streams(void) {
  setvbuf(stdin, NULL, _IOFBF, BUFSIZ);
  setvbuf(stdout, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
}

PyObject *run_tool(PyObject *self, PyObject *args) {
  PyObject *list;
  int status;
  (void)self;
  if (!PyArg_ParseTuple(args, "O!O", &PyList_Type, &list, &connect_function))
    return NULL;
  char **words = words_of(list);
  if (!words)
    return NULL;
  int count = (int)PyList_Size(list);
  buffer_streams();
  Py_BEGIN_ALLOW_THREADS;
  status = tool_main(count, words, connect_ranks);
  Py_END_ALLOW_THREADS;
  PyErr_Clear();  // what carry_function has raised is reported
  Py_CLEAR(carry_function);
  PyMem_Free(words);
  return PyLong_FromLong(status);
}
