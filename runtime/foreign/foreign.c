// Calls of C functions through libffi. See foreign.h.
#include "runtime/foreign/foreign.h"
#include "runtime/system/library.h"

#include <dlfcn.h>
#include <ffi.h>
#include <stdio.h>

struct foreign {
  void *library;  // NULL: the function is given
  permc_foreign called;
  ffi_cif cif;
  uint32_t arity, first;  // operands, the first of them the parameter of that number: 0 or 1
  scalar_type result;
  ffi_type **types;  // of the parameters; libffi keeps the pointer
  size_t *sizes;     // bytes of one element of each operand
};

// NULL: it cannot be passed on this machine.
static ffi_type *const ffi_types[SCALAR_COUNT] = {
    [SCALAR_BOOL] = &ffi_type_uint8,  // _Bool is one byte wherever we run
    [SCALAR_I8] = &ffi_type_sint8,          [SCALAR_I16] = &ffi_type_sint16,
    [SCALAR_I32] = &ffi_type_sint32,        [SCALAR_I64] = &ffi_type_sint64,
    [SCALAR_U8] = &ffi_type_uint8,          [SCALAR_U16] = &ffi_type_uint16,
    [SCALAR_U32] = &ffi_type_uint32,        [SCALAR_U64] = &ffi_type_uint64,
    [SCALAR_F32] = &ffi_type_float,         [SCALAR_F64] = &ffi_type_double,
#ifdef FFI_TARGET_HAS_COMPLEX_TYPE
    [SCALAR_C64] = &ffi_type_complex_float, [SCALAR_C128] = &ffi_type_complex_double,
#endif
};

// ---- finding the function -----------------------------------------------------------------------

static void *open_library(const char *name, error *why) {
  if (*name == '\0')
    return library_open(NULL, RTLD_NOW);
  if (strchr(name, '/') || strstr(name, ".so")) {
    void *library = library_open(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
      error_set(why, SPAN_NONE, "the library \"%s\" cannot be loaded: %s", name, dlerror());
    return library;
  }
  // A bare .so may be missing (no development package) or a linker script, which is no library.
  static const char *const endings[] = {".so", ".so.6", ".so.1", ".so.0"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    char path[512];
    int length = snprintf(path, sizeof path, "lib%s%s", name, endings[i]);
    void *library = length < (int)sizeof path ? library_open(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library)
      return library;
  }
  error_set(why, SPAN_NONE,
            "the library \"%s\" was not found: no lib%s.so, nor with .so.6, .so.1 or .so.0", name,
            name);
  return NULL;
}

static bool find_function(foreign *f, const c_function *e, error *why) {
  if (e->callback) {
    f->called = (permc_foreign){e->callback->function, e->callback->with};
    return true;
  }
  f->library = open_library(e->library, why);
  if (f->library == NULL)
    return false;
  // ISO C has no conversion from an object's to a function's address; POSIX says they are alike.
  void *address = dlsym(f->library, e->name);
  memcpy(&f->called.function, &address, sizeof address);
  return address != NULL || error_set(why, SPAN_NONE, "the library \"%s\" has no function \"%s\"",
                                      e->library, e->name);
}

static bool prepare_call(foreign *f, const c_function *e, error *why) {
  if (e->arity >= C_FUNCTION_TYPES)
    return error_set(why, SPAN_NONE, "\"%s\" has more than %d parameters", e->name,
                     C_FUNCTION_TYPES - 1);
  f->types = calloc(e->arity + 1, sizeof(ffi_type *));
  f->sizes = calloc(e->arity + 1, sizeof *f->sizes);
  if (f->types == NULL || f->sizes == NULL)
    return error_no_memory(why);
  f->arity = e->arity;
  f->first = f->called.with != NULL;
  f->types[0] = &ffi_type_pointer;
  f->result = e->result;
  ffi_type *result = ffi_types[e->result];
  bool known = result != NULL;
  for (uint32_t i = 0; i < e->arity; i++) {
    f->types[f->first + i] = ffi_types[e->parameters[i]];
    f->sizes[i] = scalar_types[e->parameters[i]].size;
    known &= ffi_types[e->parameters[i]] != NULL;
  }
  if (known &&
      ffi_prep_cif(&f->cif, FFI_DEFAULT_ABI, f->first + e->arity, result, f->types) == FFI_OK)
    return true;
  return error_set(why, SPAN_NONE, "\"%s\" has a type that cannot be called on this machine",
                   e->name);
}

foreign *foreign_open(const c_function *e, bool allowed, error *why) {
  if (!allowed && !e->callback)
    return error_set(why, SPAN_NONE,
                     "\"%s\" is a C function; programs may call those only with --allow-extern",
                     e->name),
           NULL;
  foreign *f = calloc(1, sizeof *f);
  if (f == NULL)
    error_no_memory(why);
  else if (find_function(f, e, why) && prepare_call(f, e, why))
    return f;
  foreign_close(f);
  return NULL;
}

void foreign_close(foreign *f) {
  if (f == NULL)
    return;
  if (f->library)
    library_close(f->library);
  free(f->types);
  free(f->sizes);
  free(f);
}

permc_foreign foreign_function(const foreign *f) { return f->called; }

// ---- calling ------------------------------------------------------------------------------------

// libffi widens integers narrower than a register to a whole ffi_arg, whose first bytes they are:
// permc is for little-endian machines.
typedef union foreign_result {
  ffi_arg widened;
  scalar_bits bits;
} foreign_result;

void foreign_call(const foreign *f, size_t n, const void *const *in, void *out) {
  size_t size = scalar_types[f->result].size;
  ffi_cif cif = f->cif;         // ffi_call takes it without const
  void *with = f->called.with;  // and the addresses of operands
  void *slots[C_FUNCTION_TYPES];
  slots[0] = &with;
  for (size_t i = 0; i < n; i++) {
    foreign_result result = {.bits = {{0}}};
    for (uint32_t k = 0; k < f->arity; k++) {
      const unsigned char *operand = (const unsigned char *)in[k] + i * f->sizes[k];
      memcpy(&slots[f->first + k], &operand, sizeof operand);  // as above: the callee only reads it
    }
    ffi_call(&cif, f->called.function, &result, slots);
    if (f->result == SCALAR_BOOL)
      result.bits.b = result.bits.u8 != 0;
    memcpy((unsigned char *)out + i * size, &result.bits, size);
  }
}
