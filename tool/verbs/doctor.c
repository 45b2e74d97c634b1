// permc doctor: what of the machine permc has found, tried out, and what to do about what is
// missing.
#include "core/units.h"
#include "runtime/compiled/compiler.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/system/cache.h"
#include "runtime/system/library.h"
#include "runtime/system/memory.h"
#include "runtime/system/pool.h"
#include "runtime/system/speed.h"
#include "tool/cli/program.h"
#include "tool/verbs/verbs.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <jansson.h>
#include <sys/statvfs.h>
#include <unistd.h>

static void print_fact(const char *name, const char *format, ...) PRINTF_LIKE(2, 3);
static void print_fact(const char *name, const char *format, ...) {
  printf("%-10s", name);
  WITH_ARGUMENTS(format, vprintf(format, arguments));
  putchar('\n');
}

static void print_advice(const char *advice) { print_fact("", "to do: %s", advice); }

// ---- permc and the machine -----------------------------------------------------------------------

static void report_versions(void) {
#if defined(__clang__)
  static const char built_by[] = "clang " __clang_version__;
#else
  static const char built_by[] = "gcc " __VERSION__;
#endif
  print_fact("permc", "%s, built by %s; jansson %s, glibc %s", permc_version(), built_by,
             jansson_version_str(), gnu_get_libc_version());
}

static void report_machine(void) {
  const char *owner;
  char size[NUMBER_SPACE];
  uint64_t most = memory_limit(&owner);
  print_fact("processor", "%s, %u threads of %ld processors", compiler_widest_isa(),
             pool_processors(), sysconf(_SC_NPROCESSORS_ONLN));
  print_fact("memory", "%s, which %s", show_bytes(size, most), owner);
  machine_speed s = speed_of_machine(true);
  print_fact("speed", "%.0f GB/s read and written by one thread, %.0f by all",
             1e-9 / s.byte[SPEED_FAR], 1e-9 / s.all);
  print_fact("places", "%.1f ns for an element anywhere in 512 KiB, %.1f in 8 MiB, %.1f in 64 MiB",
             1e9 * s.place[SPEED_NEAR], 1e9 * s.place[SPEED_MIDDLE], 1e9 * s.place[SPEED_FAR]);
}

// ---- the C compiler ------------------------------------------------------------------------------

static const char library_text[] =
    "__attribute__((visibility(\"default\"))) int permc_doctor(void) "
    "{ return 42; }\n";

static bool load_and_call(const char *path) {
  int (*function)(void) = NULL;
  void *library = library_open(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, "permc_doctor") : NULL;
  memcpy(&function, &symbol, sizeof symbol);
  bool good = function && function() == 42;
  if (library)
    library_close(library);
  return good;
}

static const char advice_folder[] =
    "set PERMC_CACHE to a folder of yours with free space, from where programs may be executed";

// Has it make a library as the backend cpu does, and calls that. *advice: what to do if it fails.
static bool try_compiler(const compiler *c, const cache_work *w, error *failure,
                         const char **advice) {
  char file[CACHE_PATH + 16], product[CACHE_PATH + 16];
  const char *words[COMPILER_OPTIONS + 8] = {c->path};
  size_t count = 1 + compiler_options("native", false, words + 1);
  snprintf(file, sizeof file, "%s/doctor.c", w->folder);
  snprintf(product, sizeof product, "%s/doctor.so", w->folder);
  memcpy(words + count, (const char *[]){"-shared", "-o", product, file, "-lm", NULL},
         6 * sizeof *words);
  FILE *f = fopen(file, "we");
  bool written = f && fputs(library_text, f) >= 0;
  if (f && fclose(f) != 0)
    written = false;
  *advice = advice_folder;
  if (!written)
    return error_set(failure, SPAN_NONE, "%.200s cannot be written to", w->folder);
  struct statvfs system;
  if (statvfs(w->folder, &system) == 0 && system.f_flag & ST_NOEXEC)
    return error_set(failure, SPAN_NONE,
                     "nothing may be executed from %.200s, which is mounted with noexec",
                     w->folder);
  *advice = "install gcc or clang with the C library's headers, or set PERMC_CC to one that works";
  if (compiler_run(&(compiler_job){words, product}, 1, w->folder, NULL, NULL, NULL, failure) !=
      COMPILER_DONE)
    return false;
  if (load_and_call(product))
    return true;
  const char *why = dlerror();
  return error_set(failure, SPAN_NONE, "what it has made cannot be loaded: %.300s",
                   why ? why : product);
}

static bool report_compiler(const cache *c) {
  compiler found;
  cache_work w;
  error failure = {0};
  const char *why, *advice = advice_folder;
  if (!compiler_find(&found, &failure)) {
    print_fact("compiler", "none");
    print_advice(failure.message);
    return false;
  }
  bool works = cache_work_begin(c, &w, &why) ? try_compiler(&found, &w, &failure, &advice)
                                             : error_set(&failure, SPAN_NONE, "%s", why);
  if (w.folder[0])
    cache_work_end(&w);
  print_fact("compiler", "%s, %s: %s", found.path, found.version,
             works ? "works" : failure.message);
  if (!works)
    print_advice(advice);
  return works;
}

static void report_cache(const cache *c) {
  cache_list l;
  char size[NUMBER_SPACE], limit[NUMBER_SPACE];
  if (!c->folder[0]) {
    print_fact("cache", "none, programs are compiled anew in each run: %s", c->problem);
    print_advice(advice_folder);
  } else if (cache_count(c, &l)) {
    print_fact("cache", "%s: %s of at most %s, in %zu entries", c->folder,
               show_bytes(size, l.bytes), show_bytes(limit, l.limit), l.count);
    cache_list_free(&l);
  } else {
    print_fact("cache", "%s cannot be written to: programs are compiled anew in each run",
               c->folder);
    print_advice(advice_folder);
  }
}

// ---- GPUs ----------------------------------------------------------------------------------------

static bool try_nvrtc(int architecture, char message[NVRTC_WHY]) {
  const char *options[] = {"-std=c++17"};
  nvrtc_job job = {"extern \"C\" __global__ void one(int *a) { *a = 1; }\n", "doctor.cu",
                   architecture, options, 1};
  FREED void *cubin = NULL;
  size_t size;
  return nvrtc_compile(&job, &cubin, &size, message, NVRTC_WHY);
}

// The compute capability of the first device that permc can use; 0: there is none.
static int report_devices(void) {
  char why[512] = "", size[NUMBER_SPACE];
  int count = cuda_count(why, sizeof why), capability = 0;
  if (count == 0) {
    print_fact("driver", "none: %s", why);
    print_advice("for the backend cuda: an NVIDIA GPU and its driver for CUDA 12 or later (or its "
                 "path in PERMC_CUDA_DRIVER)");
  }
  for (int i = 0; i < count; i++) {
    cuda_device *d = cuda_open(i, why, sizeof why);
    const cuda_facts *f = d ? cuda_facts_of(d) : NULL;
    if (f && !capability)
      print_fact("driver", "for CUDA %d.%d", f->driver / 1000, f->driver % 1000 / 10);
    if (f)
      print_fact("device", "%d: %s, sm_%d, %s%s", i, f->name, f->capability,
                 show_bytes(size, f->memory_bytes), i ? " (not used)" : "");
    else
      print_fact("device", "%d: %s", i, why);
    capability = f && i == 0 ? f->capability : capability;
    cuda_close(d);
  }
  return capability;
}

static bool report_gpus(void) {
  enum { ANY_ARCHITECTURE = 80 };
  char why[NVRTC_WHY] = "";
  int major, minor, capability = report_devices();
  if (!nvrtc_find(why, sizeof why)) {
    print_fact("nvrtc", "none");
    print_advice(why);
    return false;
  }
  bool known = nvrtc_version(&major, &minor);
  bool works = try_nvrtc(capability ? capability : ANY_ARCHITECTURE, why);
  print_fact("nvrtc", "%d.%d: %s", known ? major : 0, known ? minor : 0, works ? "works" : why);
  if (!works)
    print_advice("install NVRTC whole (libnvrtc and libnvrtc-builtins), for this GPU, or set "
                 "PERMC_NVRTC to its path");
  return works && capability;
}

// ---- running -------------------------------------------------------------------------------------

static bool run_program(permc_context *c, const char *backend) {
  const uint64_t dims[] = {4};
  const int64_t in[] = {3, 1, 2, 0};
  permc_value *keys = permc_value_new("i64", 1, dims, in), **results = NULL;
  size_t count = 0;
  bool good = keys && permc_run(c, "-e", backend, &keys, 1, &results, &count) && count == 1;
  for (int64_t i = 0; i < 4 && good; i++)
    good = ((const int64_t *)permc_value_data(results[0], 0))[i] == i;
  permc_values_free(results, count);
  permc_value_free(keys);
  return good;
}

// Whether those that need nothing work.
static bool report_backends(bool compiler_works, bool gpu_works) {
  const struct {
    const char *name;
    bool has_all, needed;
  } backends[] = {{"interp", true, true},
                  {"portable", true, true},
                  {"cpu", compiler_works, false},
                  {"cuda", gpu_works, false}};
  FREED_BY(text_free) text working = {0};
  permc_context *c = cli_context_new();
  bool good = c && cli_report(c, permc_define(c, "sort"));
  for (size_t i = 0; i < sizeof backends / sizeof *backends && good; i++) {
    bool works = backends[i].has_all && run_program(c, backends[i].name);
    text_printf(&working, "%s%s", working.length && works ? ", " : "",
                works ? backends[i].name : "");
    if (backends[i].has_all && !works)
      print_fact("backend", "%s fails: %s", backends[i].name, permc_message(c));
    good = works || !backends[i].needed;
  }
  print_fact("backends", "%s", working.length ? text_content(&working) : "none works");
  permc_context_free(c);
  return good;
}

cli_status verb_doctor(const cli_arguments *args) {
  cache c;
  (void)args;
  cache_open(&c);
  report_versions();
  report_machine();
  bool compiler_works = report_compiler(&c);
  report_cache(&c);
  bool gpu_works = report_gpus();
  return report_backends(compiler_works, gpu_works) ? CLI_OK : CLI_WRONG;
}
