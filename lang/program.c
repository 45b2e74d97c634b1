// Loading: the library, the program, its imports; then names and types.
#include "lang/program.h"
#include "lang/build.h"
#include "lang/stdlib.h"
#include <errno.h>
#include <stdio.h>

enum { MAX_SOURCE = 64 << 20 };  // bytes of one source file

char *read_source(arena *a, const char *path, size_t *length, const char **why) {
  FILE *f = fopen(path, "rb");
  if (!f) {
    *why = strerror(errno);
    return NULL;
  }
  size_t capacity = 1 << 16, used = 0;
  char *bytes = arena_alloc(a, capacity);
  for (size_t got = 1; got && used < MAX_SOURCE;) {
    if (used + 1 == capacity) {
      char *more = arena_alloc(a, 2 * capacity);
      memcpy(more, bytes, used);
      bytes = more;
      capacity *= 2;
    }
    got = fread(bytes + used, 1, capacity - 1 - used, f);
    used += got;
  }
  bool failed = ferror(f);
  *why = failed ? strerror(errno) : "it is larger than 64 MiB";
  fclose(f);
  bytes[used] = 0;
  *length = used;
  return failed || used >= MAX_SOURCE ? NULL : bytes;
}

static module *add_module(loaded_program *p, const char *name, const char *bytes, size_t length) {
  source s = {.name = arena_copy(&p->memory, name, strlen(name)),
              .text = arena_copy(&p->memory, bytes, length),
              .length = (uint32_t)length};
  module *m = parse_module(&p->diagnostics, diag_add_source(&p->diagnostics, s));
  vec_push(&p->memory, &p->program.modules, m);
  return m;
}

static void load_library(loaded_program *p) {
  diagnostics *d = &p->library_diagnostics;
  arena_free(&p->library_memory);  // of an attempt that ran out of memory
  text_free(&d->rendered);
  *d = (diagnostics){.memory = &p->library_memory};
  p->library = (program){0};
  p->library_memory.failure = p->memory.failure;
  p->builtins = builtins_create(d);
  for (size_t i = 0; i < stdlib_file_count; i++) {
    source s = {.name = stdlib_files[i].name,
                .text = stdlib_files[i].text,
                .length = (uint32_t)stdlib_files[i].length,
                .library = true};
    module *m = parse_module(d, diag_add_source(d, s));
    vec_push(d->memory, &p->library.modules, m);
  }
  binding_groups groups = {0};
  if (resolve_program(d, &p->library, &p->builtins, &groups))
    infer_program(d, &p->builtins, &groups);
  // It has errors only while it is being written.
  text_add(&p->diagnostics.rendered, d->rendered.data ? d->rendered.data : "", d->rendered.length);
  p->diagnostics.errors += d->errors;
  p->ready = !d->errors;
}

// The lists of sources and modules begin with the library's; what is added goes into p->memory.
static void begin(loaded_program *p) {
  p->diagnostics.memory = &p->memory;
  memset(&p->diagnostics.sources, 0, sizeof p->diagnostics.sources);
  p->program = (program){0};
  for (size_t i = 0; i < p->library_diagnostics.sources.count; i++)
    diag_add_source(&p->diagnostics, p->library_diagnostics.sources.items[i]);
  for (size_t i = 0; i < p->library.modules.count; i++)
    vec_push(&p->memory, &p->program.modules, p->library.modules.items[i]);
}

void program_start(loaded_program *p) {
  if (p->ready)
    return;
  load_library(p);
  begin(p);
}

void program_forget(loaded_program *p) {
  arena_free(&p->memory);
  begin(p);
}

// Beside the importing file, unless absolute.
static const char *import_path(loaded_program *p, const char *from, const char *path) {
  const char *slash = strrchr(from, '/');
  if (path[0] == '/' || !slash)
    return path;
  return arena_printf(&p->memory, "%.*s/%s", (int)(slash - from), from, path);
}

static bool is_loaded(const loaded_program *p, const char *path) {
  for (size_t i = 0; i < p->program.modules.count; i++)
    if (!strcmp(p->diagnostics.sources.items[p->program.modules.items[i]->file].name, path))
      return true;
  return false;
}

static void load_imports(loaded_program *p, const module *first) {
  VEC(const module *) open = {0};
  vec_push(&p->memory, &open, first);
  while (open.count) {
    const module *m = open.items[--open.count];
    for (size_t i = 0; i < m->imports.count; i++) {
import it = m->imports.items[i];
      const char *path = import_path(p, p->diagnostics.sources.items[m->file].name, it.path), *why;
      if (is_loaded(p, path))
        continue;
      size_t length;
      const char *bytes = read_source(&p->memory, path, &length, &why);
      if (!bytes) {
        diag_report(&p->diagnostics, DIAG_ERROR, it.where, "cannot read \"%s\": %s", path, why);
        continue;
      }
      vec_push(&p->memory, &open, add_module(p, path, bytes, length));
    }
  }
}

static bool analyse(loaded_program *p) {
  if (p->diagnostics.errors)
    return false;
  binding_groups groups = {0};
  return resolve_program(&p->diagnostics, &p->program, &p->builtins, &groups) &&
         infer_program(&p->diagnostics, &p->builtins, &groups);
}

static bool is_entry(const binding *b) {
  bool named = b->signature || !strcmp(b->name, "main");
  const type *t = type_prune(b->scheme->type);
  bool anything = t->kind == TYPE_VARIABLE && t->constraint.kind == CONSTRAINT_NONE;
  return b->kind == BINDING_FUNCTION && b->code && named && !anything &&
         first_order_parameters(b->scheme->type);
}

static void collect_entries(loaded_program *p, const module *m) {
  for (size_t i = 0; i < m->bindings.count; i++)
    if (is_entry(m->bindings.items[i]))
      vec_push(&p->memory, &p->program.entries, m->bindings.items[i]);
}

bool program_load(loaded_program *p, const char *name, const char *bytes, size_t length) {
  program_start(p);
  if (length >= MAX_SOURCE) {
    diag_report(&p->diagnostics, DIAG_ERROR, (span){UINT32_MAX, 0, 0},
                "%s: a program of 64 MiB or more", name);
    return false;
  }
  const module *m = add_module(p, name, bytes, length);
  load_imports(p, m);
  if (!analyse(p))
    return false;
  collect_entries(p, m);
  return true;
}

// A later definition of the same name replaces the earlier one.
static void forget(loaded_program *p, const char *name) {
  size_t kept = 0;
  for (size_t i = 0; i < p->program.modules.count; i++) {
    module *m = p->program.modules.items[i];
    bool same = !m->library && m->bindings.count == 1 && !strcmp(m->bindings.items[0]->name, name);
    if (!same)
      p->program.modules.items[kept++] = m;
  }
  p->program.modules.count = kept;
  kept = 0;
  for (size_t i = 0; i < p->program.entries.count; i++)
    if (strcmp(p->program.entries.items[i]->name, name))
      p->program.entries.items[kept++] = p->program.entries.items[i];
  p->program.entries.count = kept;
}

bool program_define(loaded_program *p, const char *name, const char *expression) {
  program_start(p);
  forget(p, name);
  source s = {.name = name,
              .text = arena_copy(&p->memory, expression, strlen(expression)),
              .length = (uint32_t)strlen(expression)};
  module *m = parse_expression(&p->diagnostics, diag_add_source(&p->diagnostics, s), name);
  vec_push(&p->memory, &p->program.modules, m);
  if (!analyse(p))
    return false;
  binding *b = m->bindings.items[0];
  if (!first_order_parameters(b->scheme->type)) {
    diag_report(&p->diagnostics, DIAG_ERROR, b->code->equations.items[0].where,
                "this expression takes or gives functions, so it cannot be run");
    return false;
  }
  vec_push(&p->memory, &p->program.entries, b);
  return true;
}

void program_free(loaded_program *p) {
  text_free(&p->diagnostics.rendered);
  text_free(&p->library_diagnostics.rendered);
  arena_free(&p->memory);
  arena_free(&p->library_memory);
  *p = (loaded_program){0};
}
