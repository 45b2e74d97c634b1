#include "runtime/compiled/compiled.h"

#include "runtime/compiled/compiler.h"
#include "runtime/cpu/roots.h"
#include "runtime/interp/foreign.h"
#include "runtime/system/cache.h"
#include "runtime/system/pool.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum {
  MOST_FILES = COMPILER_JOBS,
  FILE_BYTES = 1 << 17,  // of text that is worth a compiler of its own
  CALL_WORK = 1 << 16,   // elements times ops that make a call worth while
};

struct compiled {
  const plan *plan;
  const atomic_bool *interrupted;
  void *library;
  const permc_pass_row *passes;
  foreign **foreign;  // by number: opened, or NULL
  void (**functions)(void);
  void **roots;
  size_t root_count;
  bool *serial;  // by pass: it calls foreign functions
  permc_imports imports;
};

static bool is_interrupted(const compiled_options *o) {
  return o->interrupted && atomic_load(o->interrupted);
}

static const char *isa_of(const compiled_options *o) { return o->isa ? o->isa : "native"; }

static c_options emitter_options(const compiled_options *o) {
  return (c_options){.stream_bytes = o->stream_bytes ? o->stream_bytes : COMPILED_STREAM_BYTES,
                     .layout = o->layout,
                     .layout_seed = o->layout_seed};
}

bool compiled_text(const plan *p, const compiled_options *o, text *out, const char **problem) {
  c_options options = emitter_options(o);
  static _Thread_local char kept[sizeof(((c_code *)0)->problem)];
  c_code code = {0};
  bool good = c_emit(&code, p, &options, problem);
  if (good)
    c_code_file(out, &code, 0, code.pass_count, true);
  else if (*problem == code.problem)  // goes with the code
    *problem = memcpy(kept, code.problem, sizeof kept);
  c_code_free(&code);
  return good && !out->failed;
}

// ---- the key -----------------------------------------------------------------------------------

static void add_string(digest *d, const char *s) { digest_add(d, s, strlen(s) + 1); }

// What code for this very machine depends on.
static void add_machine(digest *d) {
  struct utsname u;
  if (uname(&u) == 0)
    add_string(d, u.machine);
#if defined(__x86_64__)
  static const unsigned leaves[][2] = {{0, 0}, {1, 0}, {7, 0}, {7, 1}, {0x80000001, 0}};
  for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
    unsigned r[4] = {0, 0, 0, 0};
    __get_cpuid_count(leaves[i][0], leaves[i][1], &r[0], &r[1], &r[2], &r[3]);
    if (leaves[i][0] == 1)
      r[1] = 0;  // which of the processors it is
    digest_add(d, r, sizeof r);
  }
#endif
}

static void key_of(const c_code *code, const compiler *c, const char *const *options,
                   size_t option_count, const char *isa, char key[CACHE_KEY]) {
  unsigned char out[DIGEST_BYTES];
  digest d = digest_start();
  add_string(&d, "permc " PERMC_VERSION);
  add_string(&d, c->path);
  add_string(&d, c->version);
  for (size_t i = 0; i < option_count; i++)
    add_string(&d, options[i]);
  add_string(&d, isa);
  add_machine(&d);
  digest_add(&d, code->definitions.data, code->definitions.length);
  for (uint32_t i = 0; i < code->pass_count; i++)
    digest_add(&d, code->passes[i].data, code->passes[i].length);
  digest_add(&d, code->entry.data, code->entry.length);
  digest_finish(&d, out);
  digest_hex(out, key);
}

// ---- compiling ---------------------------------------------------------------------------------

// The passes in files of about the same length: file i has passes first[i] ... first[i+1] - 1.
static size_t split(const c_code *code, unsigned compilers, uint32_t *first) {
  size_t total = 0, so_far = 0, files;
  for (uint32_t i = 0; i < code->pass_count; i++)
    total += code->passes[i].length;
  files = total / FILE_BYTES + 1;
  files = files > compilers ? compilers : files;
  files = files > MOST_FILES ? MOST_FILES : files;
  files = files > code->pass_count ? code->pass_count : files;
  files = files == 0 ? 1 : files;
  size_t at = 0;
  for (uint32_t i = 0; i < code->pass_count; i++) {
    while (at < files && so_far >= total * at / files)
      first[at++] = i;
    so_far += code->passes[i].length;
  }
  while (at < files)
    first[at++] = code->pass_count;
  first[0] = 0;
  first[files] = code->pass_count;
  return files;
}

static bool write_file(const char *path, const text *t) {
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  size_t done = 0;
  while (file >= 0 && done < t->length) {
    ssize_t some = write(file, t->data + done, t->length - done);
    if (some < 0 && errno != EINTR)
      break;
    done += some > 0 ? (size_t)some : 0;
  }
  return file >= 0 && close(file) == 0 && done == t->length;
}

typedef struct file_names {
  char source[CACHE_PATH + 32], object[CACHE_PATH + 32];
} file_names;

typedef struct build {
  const compiler *compiler;
  const compiled_options *options;
  const char *const *flags;
  size_t flag_count;
  bool plain;  // no builtins of this compiler
  const char *folder;
  file_names *names;
  cpu_failure *failure;
} build;

static const char **arguments_of(const build *b, size_t more) {
  const char **all = calloc(b->flag_count + more + 4, sizeof *all);
  size_t count = 0;
  if (!all)
    return NULL;
  all[count++] = b->compiler->path;
  for (size_t i = 0; i < b->flag_count; i++)
    all[count++] = b->flags[i];
  if (b->plain)
    all[count++] = "-DPERMC_PLAIN";
  return all;
}

static size_t end_of(const char **arguments) {
  size_t count = 0;
  while (arguments[count])
    count++;
  return count;
}

static bool run_jobs(const build *b, const compiler_job *jobs, size_t count) {
  *b->failure = (cpu_failure){.has_origin = false};
  return compiler_run(jobs, count, b->folder, b->options->interrupted, b->failure->message,
                      sizeof b->failure->message);
}

static bool compile_files(const build *b, size_t files) {
  compiler_job jobs[MOST_FILES];
  bool good = true;
  for (size_t i = 0; i < files; i++) {
    const char **arguments = arguments_of(b, 4);
    good = good && arguments;
    if (arguments) {
      size_t at = end_of(arguments);
      arguments[at++] = "-c";
      arguments[at++] = b->names[i].source;
      arguments[at++] = "-o";
      arguments[at++] = b->names[i].object;
    }
    jobs[i] = (compiler_job){arguments, b->names[i].object};
  }
  good = good ? run_jobs(b, jobs, files) : cpu_fail(b->failure, "out of memory");
  for (size_t i = 0; i < files; i++)
    free((void *)jobs[i].arguments);
  return good;
}

// One file is compiled and linked at once.
static bool link_files(const build *b, size_t files, bool compile) {
  const char **arguments = arguments_of(b, files + 5);
  char product[CACHE_PATH + 32];
  if (!arguments)
    return cpu_fail(b->failure, "out of memory");
  size_t at = end_of(arguments);
  snprintf(product, sizeof product, "%s/code.so", b->folder);
  arguments[at++] = "-shared";
  arguments[at++] = "-o";
  arguments[at++] = product;
  for (size_t i = 0; i < files; i++)
    arguments[at++] = compile ? b->names[i].source : b->names[i].object;
  arguments[at++] = "-lm";
  bool good = run_jobs(b, &(compiler_job){arguments, product}, 1);
  free(arguments);
  return good;
}

// Makes <folder>/code.so.
static bool compile(build *b, const c_code *code) {
  uint32_t first[MOST_FILES + 1];
  unsigned compilers = b->options->compilers ? b->options->compilers : pool_processors();
  size_t files = split(code, compilers, first);
  bool good = true;
  b->names = calloc(files, sizeof *b->names);
  for (size_t i = 0; i < files && b->names && good; i++) {
    text t = {0};
    snprintf(b->names[i].source, sizeof b->names->source, "%s/code-%zu.c", b->folder, i);
    snprintf(b->names[i].object, sizeof b->names->object, "%s/code-%zu.o", b->folder, i);
    c_code_file(&t, code, first[i], first[i + 1], i == 0);
    if (t.failed)
      good = cpu_fail(b->failure, "out of memory");
    else if (!write_file(b->names[i].source, &t))
      good = cpu_fail(b->failure, "%.400s cannot be written: %s", b->folder, strerror(errno));
    text_free(&t);
  }
  if (!b->names)
    good = cpu_fail(b->failure, "out of memory");
  good = good && (files == 1 || compile_files(b, files)) && link_files(b, files, files == 1);
  free(b->names);
  return good;
}

// ---- loading -----------------------------------------------------------------------------------

static bool load(compiled *e, const char *path, cpu_failure *failure) {
  e->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const uint32_t *count = e->library ? dlsym(e->library, "permc_pass_count") : NULL;
  e->passes = e->library ? dlsym(e->library, "permc_passes") : NULL;
  if (e->passes && count && *count == e->plan->passes.count)
    return true;
  const char *why = e->library ? "it is not what was compiled" : dlerror();
  cpu_fail(failure, "compiled code cannot be loaded: %s", why);
  if (e->library)
    dlclose(e->library);
  e->library = NULL;
  e->passes = NULL;
  return false;
}

// Compiles in a folder of the cache's (or a temporary one, if `c` has none), keeps and loads.
static bool make(compiled *e, build *b, const cache *c, const c_code *code, const char *key) {
  cache_work work;
  const char *why = NULL;
  char path[CACHE_PATH];
  if (!cache_work_begin(c, &work, &why))
    return cpu_fail(b->failure, "%s", why);
  b->folder = work.folder;
  bool good = compile(b, code);
  if (good) {
    cache_keep(c, &work, "code.so", key, path);
    good = load(e, path, b->failure);
  }
  cache_work_end(&work);
  return good;
}

static uint64_t code_bytes(const c_code *code) {
  uint64_t bytes = code->definitions.length + code->entry.length;
  for (uint32_t i = 0; i < code->pass_count; i++)
    bytes += code->passes[i].length;
  return bytes;
}

// What goes wrong in the cache's folder (no room, no execution), or with the compiler's builtins,
// does perhaps not go wrong a second time, elsewhere and without.
static compiled_status obtain(compiled *e, const compiled_options *o, const c_code *code,
                              cpu_failure *failure) {
  compiler found;
  cache c;
  const char *flags[COMPILER_OPTIONS];
  char key[CACHE_KEY], path[CACHE_PATH];
  if (!compiler_find(&found, failure->message, sizeof failure->message))
    return COMPILED_UNAVAILABLE;
  uint64_t bytes = code_bytes(code);
  if (bytes > COMPILED_MOST_BYTES)
    return cpu_fail(failure, "a program that comes to %llu MiB of C is too much for a compiler",
                    (unsigned long long)(bytes >> 20)),
           COMPILED_UNAVAILABLE;
  size_t count = compiler_options(isa_of(o), o->fuse, flags);
  if (count == 0)
    return cpu_fail(failure, "there is no instruction set \"%s\" here", isa_of(o)), COMPILED_FAILED;
  key_of(code, &found, flags, count, isa_of(o), key);
  cache_open(&c);
  if (o->no_cache)
    c.folder[0] = 0;
  if (cache_find(&c, key, path) && load(e, path, failure))
    return COMPILED_CACHED;
  build b = {&found, o, flags, count, false, NULL, NULL, failure};
  if (make(e, &b, &c, code, key))
    return COMPILED;
  if (!is_interrupted(o)) {
    char message[sizeof failure->message];
    memcpy(message, failure->message, sizeof message);
    c.folder[0] = 0;
    b.plain = true;
    if (make(e, &b, &c, code, key))
      return COMPILED;
    memcpy(failure->message, message, sizeof message);  // the first is the telling one
  }
  return is_interrupted(o) ? COMPILED_FAILED : COMPILED_UNAVAILABLE;
}

// ---- what the code imports ---------------------------------------------------------------------

static bool open_function(compiled *e, const net_op *op, uint64_t number, bool allowed,
                          cpu_failure *failure) {
  const net_extern *x = &e->plan->net->externs.items[number];
  trace_extern row = {x->library, x->name, x->arity, x->parameters, x->result};
  if (e->foreign[number])
    return true;
  *failure = (cpu_failure){.origin = op->origin, .has_origin = true};
  if (allowed)
    e->foreign[number] = foreign_open(&row, failure->message, sizeof failure->message);
  else
    snprintf(failure->message, sizeof failure->message,
             "\"%s\" is a C function; programs may call those only with --allow-extern", x->name);
  if (e->foreign[number])
    e->functions[number] = foreign_function(e->foreign[number]);
  return e->foreign[number] != NULL;
}

static bool open_functions_of(compiled *e, uint32_t pass, const net_stage *s, const net_op *op,
                              net_id *nodes, bool allowed, cpu_failure *failure) {
  uint32_t count = net_op_nodes(s, op, nodes);
  for (uint32_t i = 0; i < count; i++) {
    if (s->nodes.items[nodes[i]].kind != NET_EXTERN)
      continue;
    e->serial[pass] = true;
    if (!open_function(e, op, s->nodes.items[nodes[i]].number, allowed, failure))
      return false;
  }
  return true;
}

static bool open_functions(compiled *e, const compiled_options *o, cpu_failure *failure) {
  const plan *p = e->plan;
  bool good = true;
  for (uint32_t i = 0; i < p->passes.count && good && p->net->externs.count > 0; i++) {
    const plan_pass *pass = &p->passes.items[i];
    const net_stage *s = &p->net->stages.items[pass->stage];
    net_id *nodes = calloc(s->nodes.count + 1, sizeof *nodes);
    good = nodes || cpu_fail(failure, "out of memory");
    for (uint32_t k = 0; k < pass->op_count && good; k++)
      good =
          open_functions_of(e, i, s, &s->ops.items[pass->ops[k]], nodes, o->allow_foreign, failure);
    free(nodes);
  }
  return good;
}

static bool make_roots(compiled *e, cpu_failure *failure) {
  e->roots = roots_make(dlsym(e->library, "permc_root_tables"), &e->root_count, pool_processors());
  e->imports = (permc_imports){e->functions, (const void *const *)e->roots};
  return e->roots || cpu_fail(failure, "out of memory");
}

// ---- the executor ------------------------------------------------------------------------------

static compiled *allocate(const plan *p, const compiled_options *o) {
  compiled *e = calloc(1, sizeof *e);
  if (!e)
    return NULL;
  e->plan = p;
  e->interrupted = o->interrupted;
  e->foreign = calloc(p->net->externs.count + 1, sizeof(foreign *));
  e->functions = calloc(p->net->externs.count + 1, sizeof *e->functions);
  e->serial = calloc(p->passes.count + 1, sizeof *e->serial);
  if (e->foreign && e->functions && e->serial)
    return e;
  compiled_free(e);
  return NULL;
}

compiled *compiled_new(const plan *p, const compiled_options *o, compiled_status *status,
                       cpu_failure *failure) {
  compiled *e = allocate(p, o);
  c_options options = emitter_options(o);
  c_code code = {0};
  const char *problem = NULL;
  *status = COMPILED_FAILED;
  cpu_fail(failure, "out of memory");
  if (!e)
    return NULL;
  bool good = open_functions(e, o, failure);
  if (good && !c_emit(&code, p, &options, &problem)) {
    *status = problem ? COMPILED_UNAVAILABLE : COMPILED_FAILED;
    good = cpu_fail(failure, "%s", problem ? problem : "out of memory");
  }
  if (good) {
    *status = obtain(e, o, &code, failure);
    good = (*status == COMPILED || *status == COMPILED_CACHED) && make_roots(e, failure);
  }
  c_code_free(&code);
  if (good)
    return e;
  if (*status == COMPILED || *status == COMPILED_CACHED)
    *status = COMPILED_FAILED;
  compiled_free(e);
  return NULL;
}

void compiled_free(compiled *e) {
  if (!e)
    return;
  for (size_t i = 0; e->foreign && i < e->plan->net->externs.count; i++)
    foreign_close(e->foreign[i]);
  if (e->roots)
    roots_free(e->roots, e->root_count);
  if (e->library)
    dlclose(e->library);
  free(e->foreign);
  free(e->functions);
  free(e->serial);
  free(e);
}

static bool run_items(void *with, uint32_t pass, void *const *arrays, uint64_t first, uint64_t last,
                      void *scratch) {
  const compiled *e = with;
  e->passes[pass].code(arrays, first, last, scratch, &e->imports);
  return !e->interrupted || !atomic_load_explicit(e->interrupted, memory_order_relaxed);
}

cpu_work compiled_pass(void *with, uint32_t number) {
  const compiled *e = with;
  const plan_pass *pass = &e->plan->passes.items[number];
  uint64_t steps = pass->load_count + pass->op_count + pass->store_count;
  uint64_t work = pass->tile.dimension < 20 ? steps << pass->tile.dimension : CALL_WORK;
  return (cpu_work){.run = run_items,
                    .with = with,
                    .scratch_bytes = e->passes[number].scratch_bytes,
                    .chunk = work > 0 && work < CALL_WORK ? CALL_WORK / work : 1,
                    .serial = e->serial[number],
                    .in_place = e->passes[number].in_place};
}

void (*compiled_entry(const compiled *e))(void) {
  void *address = dlsym(e->library, "permc_entry");
  void (*entry)(void);
  memcpy(&entry, &address, sizeof entry);  // ISO C has no cast; POSIX says they are alike
  return entry;
}

const permc_imports *compiled_imports(const compiled *e) { return &e->imports; }
