// Loading: the library, the program, its imports; then names and types.
#include "lang/load/program.h"
#include "core/path.h"
#include "lang/load/stdlib.h"
#include "lang/syntax/tree.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  MAX_SOURCE = 64 << 20,  // bytes of one source file
  MAX_IMPORTS = 1000      // files that one program imports
};

// Reads the rest of the file, and closes it.
static char *read_and_close(arena *a, FILE *f, size_t *length, const char **why) {
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
  *why = failed ? error_of_reading(errno) : "it is larger than 64 MiB";
  fclose(f);
  bytes[used] = 0;
  *length = used;
  return failed || used >= MAX_SOURCE ? NULL : bytes;
}

char *read_source(arena *a, const char *path, size_t *length, const char **why) {
  FILE *f = fopen(path, "rb");
  if (f)
    return read_and_close(a, f, length, why);
  *why = strerror(errno);
  return NULL;
}

static module *add_module(loaded_program *p, const char *name, const char *bytes, size_t length,
                          bool outside) {
  source s = {.name = arena_copy(&p->memory, name, strlen(name)),
              .text = arena_copy(&p->memory, bytes, length),
              .length = (uint32_t)length,
              .outside = outside};
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
  uint32_t first = (uint32_t)d->sources.count;
  for (size_t i = 0; i < stdlib_file_count; i++) {
    source s = {.name = stdlib_files[i].name,
                .text = stdlib_files[i].text,
                .length = (uint32_t)stdlib_files[i].length,
                .library = true};
    diag_add_source(d, s);
    vec_push(d->memory, &p->library.modules, NULL);
  }
  parse_modules(d, first, (uint32_t)stdlib_file_count, p->library.modules.items);
  binding_groups groups = {0};
  if (resolve_program(d, &p->library, &p->builtins, &groups))
    infer_program(d, &p->builtins, &groups);
  // It has errors only while it is being written.
  text_add(&p->diagnostics.rendered, text_content(&d->rendered), d->rendered.length);
  p->diagnostics.errors += d->errors;
  p->ready = !d->errors;
}

// The lists of sources and modules begin with the library's; what is added goes into p->memory.
static void begin_with_library(loaded_program *p) {
  p->diagnostics.memory = &p->memory;
  memset(&p->diagnostics.sources, 0, sizeof p->diagnostics.sources);
  p->program = (program){0};
  memset(&p->files, 0, sizeof p->files);
  for (size_t i = 0; i < p->library_diagnostics.sources.count; i++)
    diag_add_source(&p->diagnostics, p->library_diagnostics.sources.items[i]);
  for (size_t i = 0; i < p->library.modules.count; i++)
    vec_push(&p->memory, &p->program.modules, p->library.modules.items[i]);
}

static void load_library_once(loaded_program *p) {
  if (p->ready)
    return;
  load_library(p);
  begin_with_library(p);
}

void program_forget(loaded_program *p) {
  arena_free(&p->memory);
  begin_with_library(p);
}

// Beside the importing file, unless absolute.
static const char *import_path(loaded_program *p, const char *from, const char *path) {
  const char *slash = strrchr(from, '/');
  if (path[0] == '/' || !slash)
    return path;
  return arena_printf(&p->memory, "%.*s/%s", (int)(slash - from), from, path);
}

// False: the file was there before. Paths do not say: one file can have many.
static bool add_file(loaded_program *p, const struct stat *s) {
  for (size_t i = 0; i < p->files.count; i++)
    if (p->files.items[i].device == s->st_dev && p->files.items[i].inode == s->st_ino)
      return false;
  vec_push(&p->memory, &p->files, ((source_file){s->st_dev, s->st_ino}));
  return true;
}

// NULL: *why says why not. Does not wait for a writer where the path is a FIFO.
static FILE *open_import(const char *path, struct stat *s, const char **why) {
  int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0 || fstat(file, s) != 0)
    *why = strerror(errno);
  else if (S_ISDIR(s->st_mode))
    *why = "it is a directory, not a regular file";
  else if (S_ISFIFO(s->st_mode))
    *why = "it is a FIFO, not a regular file";
  else if (!S_ISREG(s->st_mode))
    *why = "it is a device, not a regular file";
  else {
    FILE *f = fdopen(file, "rb");
    if (f)
      return f;
    *why = strerror(errno);
  }
  if (file >= 0)
    close(file);
  return NULL;
}

// NULL, or why that path may not be imported.
static const char *import_problem(const loaded_program *p, const char *path, bool outside) {
  size_t length = strlen(path);
  if (p->imports == IMPORT_NONE)
    return "imports are not allowed here";
  if (p->imports == IMPORT_BESIDE && outside)
    return "it is not in the folder of the program, which is not trusted";
  // Messages would tell what is in a file that is no program.
  if (outside && (length < 5 || strcmp(path + length - 5, ".perm")))
    return "it is not in the folder of the program, and its name does not end in .perm";
  return NULL;
}

// The module of a file that was not loaded before, else NULL. After errors, too.
static const module *load_import(loaded_program *p, const char *importer, const char *path,
                                 span where) {
  struct stat s;
  size_t length;
  bool outside = !path_is_beside(importer, path);
  const char *why = import_problem(p, path, outside), *bytes = NULL;
  bool may_open = !why || p->imports == IMPORT_ANY;
  const char *wrong = NULL;
  FILE *f = may_open ? open_import(path, &s, &wrong) : NULL;
  if (f && why) {
    fclose(f);
    f = NULL;
  }
  why = wrong ? wrong : why;
  if (f && !add_file(p, &s)) {
    fclose(f);
    return NULL;
  }
  if (f)
    bytes = read_and_close(&p->memory, f, &length, &why);
  if (bytes)
    return add_module(p, path, bytes, length, outside);
  diag_report(&p->diagnostics, DIAG_ERROR, where, "cannot import \"%s\": %s", path, why);
  diag_report(
      &p->diagnostics, DIAG_HINT, where,
      "a path begins in the folder of the program that imports; the library needs no import");
  return NULL;
}

// The text of the program itself need not be that of a file: it is known by its name, too.
static void load_imports(loaded_program *p, const module *first) {
  const char *name = p->diagnostics.sources.items[first->file].name;
  size_t most = p->files.count + MAX_IMPORTS;
  VEC(const module *) open = {0};
  vec_push(&p->memory, &open, first);
  while (open.count) {
    const module *m = open.items[--open.count];
    for (size_t i = 0; i < m->imports.count; i++) {
import it = m->imports.items[i];
      const char *path = import_path(p, p->diagnostics.sources.items[m->file].name, it.path);
      const module *loaded = strcmp(path, name) ? load_import(p, name, path, it.where) : NULL;
      if (loaded)
        vec_push(&p->memory, &open, loaded);
      if (p->files.count > most) {
        diag_report(&p->diagnostics, DIAG_ERROR, it.where,
                    "cannot import \"%s\": a program can import at most %d files", path,
                    MAX_IMPORTS);
        return;
      }
    }
  }
}

// ---- functions of the caller -------------------------------------------------------------------

binding *program_definition(const loaded_program *p, const char *name) {
  for (size_t i = 0; i < p->program.modules.count; i++) {
    const module *m = p->program.modules.items[i];
    for (size_t k = 0; k < m->bindings.count && !m->library; k++)
      if (!strcmp(m->bindings.items[k]->name, name))
        return m->bindings.items[k];
  }
  return NULL;
}

static void declare(loaded_program *p, const c_callback *c) {
  text t = {0};
  text_printf(&t, "extern \"\" %s : ", c->name);
  for (uint32_t i = 0; i <= c->arity; i++)
    text_printf(&t, "%s%s", i ? " -> " : "", scalar_types[c->types[i]].name);
  text_string(&t, "\n");
  size_t length = t.length;
  add_module(p, "extern", arena_text(&p->memory, &t), length, false);
}

// Each gets its `extern`: one that the program declares, or, if its type is known, another.
static void add_callbacks(loaded_program *p) {
  for (const c_callback *c = p->callbacks; c; c = c->next) {
    if (c->types && !program_definition(p, c->name))
      declare(p, c);
    binding *b = program_definition(p, c->name);
    if (b && b->kind == BINDING_EXTERN && !b->callback)
      b->callback = c;
  }
}

static bool resolve_and_infer(loaded_program *p) {
  add_callbacks(p);
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
  load_library_once(p);
  if (length >= MAX_SOURCE) {
    diag_report(&p->diagnostics, DIAG_ERROR, SPAN_NONE, "%s: the program has 64 MiB or more", name);
    return false;
  }
  struct stat s;
  if (stat(name, &s) == 0 && S_ISREG(s.st_mode))
    add_file(p, &s);
  const module *m = add_module(p, name, bytes, length, false);
  load_imports(p, m);
  if (!resolve_and_infer(p))
    return false;
  collect_entries(p, m);
  return true;
}

// A later definition of the same name replaces the earlier one.
static void forget_definition(loaded_program *p, const char *name) {
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
  load_library_once(p);
  forget_definition(p, name);
  source s = {.name = name,
              .text = arena_copy(&p->memory, expression, strlen(expression)),
              .length = (uint32_t)strlen(expression)};
  module *m = parse_expression(&p->diagnostics, diag_add_source(&p->diagnostics, s), name);
  vec_push(&p->memory, &p->program.modules, m);
  if (!resolve_and_infer(p))
    return false;
  binding *b = m->bindings.items[0];
  if (!first_order_parameters(b->scheme->type)) {
    diag_report(&p->diagnostics, DIAG_ERROR, b->code->equations.items[0].where,
                "this expression takes or returns functions, so it cannot run");
    diag_report(&p->diagnostics, DIAG_HINT, b->code->equations.items[0].where, "%s",
                hint_for_functions(b->scheme->type));
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
  for (c_callback *c = p->callbacks, *next; c; c = next) {
    next = c->next;
    free(c);
  }
  *p = (loaded_program){0};
}
