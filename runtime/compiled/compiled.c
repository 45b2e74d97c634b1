// Compiles the C text of a plan, or finds it compiled in the cache, and loads it. See compiled.h.
#include "runtime/compiled/compiled.h"
#include "core/clock.h"

#include "runtime/compiled/compiler.h"
#include "runtime/cpu/roots.h"
#include "runtime/portable/portable.h"
#include "runtime/system/cache.h"
#include "runtime/system/library.h"
#include "runtime/system/pool.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
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
  cpu_externs externs;
  permc_foreign *functions;  // the externs'
  void **roots;
  size_t root_count;
  permc_imports imports;
  char note[sizeof((c_code *)0)->note];
  bool *left_out;  // by pass: the executor `rest` has it; NULL: there is none
  portable *rest;
};

static bool is_interrupted(const compiled_options *o) {
  return o->interrupted && atomic_load(o->interrupted);
}

// ---- the key -----------------------------------------------------------------------------------

static void add_string(digest *d, const char *s) { digest_add(d, s, strlen(s) + 1); }

// What code for this very processor depends on.
static void add_processor(digest *d) {
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

static void compute_cache_key(const c_code *code, const compiler *c, const char *const *options,
                              size_t option_count, const char *isa, char key[CACHE_KEY]) {
  digest d = digest_start();
  add_string(&d, "permc " PERMC_VERSION);
  add_string(&d, c->path);
  add_string(&d, c->version);
  for (size_t i = 0; i < option_count; i++)
    add_string(&d, options[i]);
  add_string(&d, isa);
  add_processor(&d);
  digest_add(&d, code->library.data, code->library.length);
  digest_add(&d, text_content(&code->definitions), code->definitions.length);
  for (uint32_t i = 0; i < code->pass_count; i++)
    digest_add(&d, code->passes[i].data, code->passes[i].length);
  digest_add(&d, code->tables.data, code->tables.length);
  digest_finish_hex(&d, key);
}

// ---- compiling ---------------------------------------------------------------------------------

typedef struct build {
  const compiler *compiler;
  const compiled_options *options;
  const char *const *flags;
  size_t flag_count;
  bool plain;               // no builtins of this compiler
  compiler_limits reached;  // where it needs more time or memory than it may have
  const cache_work *work;
} build;

typedef struct command {
  const char *words[COMPILER_OPTIONS + MOST_FILES + 8];  // the last is NULL
  size_t count;
} command;

static void add_words(command *c, size_t count, const char *const *words) {
  for (size_t i = 0; i < count; i++)
    c->words[c->count++] = words[i];
}

static command begin_command(const build *b) {
  command c = {.count = 0};
  add_words(&c, 1, (const char *[]){b->compiler->path});
  add_words(&c, b->flag_count, b->flags);
  add_words(&c, b->plain, (const char *[]){"-DPERMC_PLAIN"});
  return c;
}

typedef struct file_names {
  char source[CACHE_PATH + 32], object[CACHE_PATH + 32];
} file_names;

static bool run_jobs(build *b, const compiler_job *jobs, size_t count, const progress *watch,
                     error *failure) {
  const compiled_options *o = b->options;
  compiler_status status =
      compiler_run(jobs, count, b->work->folder, &o->limits, o->interrupted, watch, failure);
  if (status == COMPILER_OUT_OF_TIME)
    b->reached.seconds = o->limits.seconds;
  if (status == COMPILER_OUT_OF_MEMORY)
    b->reached.memory = o->limits.memory;
  return status == COMPILER_DONE;
}

static bool is_limited(const build *b) { return b->reached.seconds || b->reached.memory; }

static bool compile_files(build *b, const file_names *names, size_t files, error *failure) {
  command commands[MOST_FILES];
  compiler_job jobs[MOST_FILES];
  for (size_t i = 0; i < files; i++) {
    commands[i] = begin_command(b);
    add_words(&commands[i], 4, (const char *[]){"-c", names[i].source, "-o", names[i].object});
    jobs[i] = (compiler_job){commands[i].words, names[i].object};
  }
  return run_jobs(b, jobs, files, &b->options->progress, failure);
}

// One file is compiled and linked at once.
static bool link_files(build *b, const file_names *names, size_t files, error *failure) {
  char product[CACHE_PATH + 32];
  command c = begin_command(b);
  snprintf(product, sizeof product, "%s/code.so", b->work->folder);
  add_words(&c, 3, (const char *[]){"-shared", "-o", product});
  for (size_t i = 0; i < files; i++)
    add_words(&c, 1, (const char *[]){files == 1 ? names[i].source : names[i].object});
  add_words(&c, 1, (const char *[]){"-lm"});
  return run_jobs(b, &(compiler_job){c.words, product}, 1, NULL, failure);
}

// Makes <folder>/code.so.
static bool compile_code(build *b, const c_code *code, error *failure) {
  uint32_t first[MOST_FILES + 1];
  unsigned compilers = b->options->compilers ? b->options->compilers : pool_processors();
  size_t files =
      c_code_split(code, FILE_BYTES, compilers < MOST_FILES ? compilers : MOST_FILES, first);
  FREED file_names *names = calloc(files, sizeof *names);
  bool good = names || error_no_memory(failure);
  for (size_t i = 0; i < files && good; i++) {
    const char *folder = b->work->folder;
    FREED_BY(text_free) text t = {0};
    snprintf(names[i].source, sizeof names->source, "%s/code-%zu.c", folder, i);
    snprintf(names[i].object, sizeof names->object, "%s/code-%zu.o", folder, i);
    c_code_file(&t, code, first[i], first[i + 1], i == 0);
    if (t.failed)
      good = error_no_memory(failure);
    else if (!cache_work_write(b->work, names[i].source + strlen(folder) + 1, t.data, t.length))
      good = error_set(failure, SPAN_NONE, "cannot write C text to %.400s: %s", folder,
                       strerror(errno));
  }
  return good && (files == 1 || compile_files(b, names, files, failure)) &&
         link_files(b, names, files, failure);
}

// ---- loading -----------------------------------------------------------------------------------

static bool load_library(compiled *e, const c_code *code, const char *path, error *failure) {
  e->library = library_open(path, RTLD_NOW | RTLD_LOCAL);
  const uint32_t *count = e->library ? dlsym(e->library, "permc_pass_count") : NULL;
  e->passes = e->library ? dlsym(e->library, "permc_passes") : NULL;
  if (e->passes && count && *count == code->pass_count)
    return true;
  error_set(failure, SPAN_NONE, "the compiled code cannot be loaded: %s",
            e->library ? "the file does not hold it" : dlerror());
  if (e->library)
    library_close(e->library);
  e->library = NULL;
  e->passes = NULL;
  return false;
}

// Compiles in a work folder of the cache (a temporary one, if `c` has no folder), adds the result
// to the cache and loads it.
static bool compile_and_load(compiled *e, build *b, const cache *c, const c_code *code,
                             const char *key, error *failure) {
  cache_work work;
  const char *why = NULL;
  char path[CACHE_PATH];
  if (!cache_work_begin(c, &work, &why))
    return error_set(failure, SPAN_NONE, "%s", why);
  b->work = &work;
  bool good = compile_code(b, code, failure);
  if (good) {
    cache_keep(c, &work, "code.so", key, path);
    good = load_library(e, code, path, failure);
  }
  cache_work_end(&work);
  return good;
}

// Loads the code from the cache, or compiles it: first in the cache's folder, then, as that may
// have no space or forbid execution, elsewhere and without the compiler's builtins. The message is
// that of the first attempt.
static compiled_status obtain_library(compiled *e, const compiled_options *o, const c_code *code,
                                      error *failure) {
  const char *isa = o->isa ? o->isa : "native", *flags[COMPILER_OPTIONS];
  char key[CACHE_KEY], path[CACHE_PATH];
  compiler found;
  cache c;
  compiler_limits reached;
  compiled_options limited = *o;
  error first = {0};
  char why[400];
  if (!compiler_find(&found, failure))
    return COMPILED_UNAVAILABLE;
  if (!c_code_is_bounded(code, why, sizeof why))
    return error_set(failure, SPAN_NONE, "%s", why), COMPILED_UNAVAILABLE;
  size_t count = compiler_options(isa, o->fuse, flags);
  if (count == 0)
    return error_set(failure, SPAN_NONE,
                     "this machine has no instruction set \"%s\"; use \"native\"", isa),
           COMPILED_FAILED;
  compute_cache_key(code, &found, flags, count, isa, key);
  cache_open(&c);
  if (o->no_cache)
    c.folder[0] = 0;
  if (cache_find(&c, key, path) && load_library(e, code, path, NULL))
    return COMPILED_CACHED;
  reached = compile_record_find(&c, key);
  limited.limits = compiler_limits_of(&o->limits);
  if (compile_record_forbids(&reached, &limited.limits, failure))
    return COMPILED_UNAVAILABLE;
  if (o->only_cached)
    return error_set(failure, SPAN_NONE, "it is not compiled yet"), COMPILED_NOT_CACHED;
  build b = {.compiler = &found, .options = &limited, .flags = flags, .flag_count = count};
  for (int attempt = 0; attempt < 2 && !is_limited(&b) && !is_interrupted(o); attempt++) {
    if (compile_and_load(e, &b, attempt == 0 ? &c : &(cache){0}, code, key, &first))
      return COMPILED;
    b.plain = true;
  }
  if (is_limited(&b))
    compile_record_keep(&c, key, &b.reached);
  error_set(&first, SPAN_NONE, "interrupted");  // unless an attempt has failed
  error_pass(failure, &first);
  return is_interrupted(o) ? COMPILED_FAILED : COMPILED_UNAVAILABLE;
}

// ---- the executor ------------------------------------------------------------------------------

static bool set_rest(compiled *e, const c_code *code, const compiled_options *o, error *failure) {
  portable_options rest = {.allow_foreign = o->allow_foreign, .interrupted = o->interrupted};
  if (!*code->note)
    return true;
  memcpy(e->note, code->note, sizeof e->note);
  e->left_out = calloc(code->pass_count + 1, sizeof *e->left_out);
  if (!e->left_out)
    return error_no_memory(failure);
  for (uint32_t i = 0; i < code->pass_count; i++)
    e->left_out[i] = code->facts[i].left_out;
  e->rest = portable_new(e->plan, &rest, failure);
  return e->rest != NULL;
}

// For what was or will be loaded: the plan that it executes, of which the text is.
static bool set_plan(compiled *e, const plan *p, const c_code *code, const compiled_options *o,
                     error *failure) {
  e->plan = p;
  e->interrupted = o->interrupted;
  e->functions = calloc(p->net->externs.count + 1, sizeof *e->functions);
  if (!e->functions)
    return error_no_memory(failure);
  return cpu_externs_open(&e->externs, p, o->allow_foreign, failure) &&
         set_rest(e, code, o, failure);
}

static bool prepare_imports(compiled *e, error *failure) {
  for (size_t i = 0; i < e->externs.count; i++)
    if (e->externs.functions[i])
      e->functions[i] = foreign_function(e->externs.functions[i]);
  e->roots = roots_make(dlsym(e->library, "permc_root_tables"), &e->root_count, pool_processors());
  e->imports = (permc_imports){e->functions, (const void *const *)e->roots};
  return e->roots || error_no_memory(failure);
}

compiled *compiled_new(const plan *p, const c_code *code, const compiled_options *o,
                       compiled_status *status, error *failure) {
  compiled *e = calloc(1, sizeof *e);
  *status = COMPILED_FAILED;
  bool good = e ? set_plan(e, p, code, o, failure) : error_no_memory(failure);
  if (good) {
    *status = obtain_library(e, o, code, failure);
    good = *status == COMPILED || *status == COMPILED_CACHED;
  }
  if (good && !prepare_imports(e, failure)) {
    *status = COMPILED_FAILED;
    good = false;
  }
  if (good)
    return e;
  compiled_free(e);
  return NULL;
}

void compiled_free(compiled *e) {
  if (!e)
    return;
  cpu_externs_close(&e->externs);
  if (e->roots)
    roots_free(e->roots, e->root_count);
  if (e->library)
    library_close(e->library);
  portable_free(e->rest);
  free(e->left_out);
  free(e->functions);
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
  if (e->left_out && e->left_out[number])
    return portable_pass(e->rest, number);
  uint64_t steps = pass->load_count + pass->op_count + pass->store_count;
  uint64_t work = pass->tile.dimension < 20 ? steps << pass->tile.dimension : CALL_WORK;
  return (cpu_work){.run = run_items,
                    .with = with,
                    .scratch_bytes = e->passes[number].scratch_bytes,
                    .chunk = work > 0 && work < CALL_WORK ? CALL_WORK / work : 1,
                    .threads = e->externs.serial[number]};
}

const char *compiled_note(const compiled *e) { return e->note; }

bool compiled_in_place(const void *with, uint32_t pass) {
  return ((const compiled *)with)->passes[pass].in_place;
}

// ---- compilations on a thread of their own -----------------------------------------------------

enum { POLL_NANOSECONDS = 1000000 };

struct compilation {
  pthread_t thread;
  pid_t process;  // that has the thread: not one that was forked from it
  c_code code;
  compiled_options options;
  compiled *made;  // NULL: taken
  compiled_status status;
  error failure;
  atomic_bool stop, ended;
};

static void *run_compilation(void *with) {
  compilation *c = with;
  c->status = obtain_library(c->made, &c->options, &c->code, &c->failure);
  atomic_store(&c->ended, true);
  return NULL;
}

compilation *compilation_begin(c_code *code, const compiled_options *o) {
  compilation *c = calloc(1, sizeof *c);
  compiled *made = calloc(1, sizeof *made);
  if (c && made) {
    *c = (compilation){.process = getpid(), .code = *code, .options = *o, .made = made};
    c->options.interrupted = &c->stop;
    if (pool_start_thread(&c->thread, run_compilation, c)) {
      *code = (c_code){0};
      return c;
    }
  }
  free(c);
  free(made);
  return NULL;
}

bool compilation_has_ended(const compilation *c) { return atomic_load(&c->ended); }

void compilation_wait(const compilation *c, double seconds, const atomic_bool *interrupted) {
  for (double end = clock_seconds() + seconds; !compilation_has_ended(c) && clock_seconds() < end &&
                                               !(interrupted && atomic_load(interrupted));)
    nanosleep(&(struct timespec){.tv_nsec = POLL_NANOSECONDS}, NULL);
}

compiled *compilation_take(compilation *c, const plan *p, const compiled_options *o,
                           error *failure) {
  compiled *e = c->made;
  c->made = NULL;
  bool good =
      c->status == COMPILED || c->status == COMPILED_CACHED || error_pass(failure, &c->failure);
  good = good && set_plan(e, p, &c->code, o, failure) && prepare_imports(e, failure);
  compilation_end(c);
  if (good)
    return e;
  compiled_free(e);
  return NULL;
}

void compilation_end(compilation *c) {
  if (!c || c->process != getpid())
    return;
  atomic_store(&c->stop, true);
  pthread_join(c->thread, NULL);
  compiled_free(c->made);
  c_code_free(&c->code);
  free(c);
}
