// Kernels of the library for GPUs. Run on the host (kernels.h): what interp computes, lines and
// turns at the banks at their least. Compiled by NVRTC: no error, and no register in memory; each
// row for one architecture in turn, or for all of them (PERMC_ALL).
//
// Each function of stdlib/*.perm stands in a row of library_rows.h; one without a row fails a test.
#include "tests/unit/kernels.h"
#include "tests/unit/library_rows.h"

#include "lang/load/stdlib.h"

#include <ctype.h>
#include <elf.h>

// ---- every function ----------------------------------------------------------------------------

static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_' || c == '\''; }

static bool occurs(const char *name, size_t length, const char *in) {
  for (const char *at = in; *at; at++)
    if (!strncmp(at, name, length) && !is_letter(at[length]) && (at == in || !is_letter(at[-1])))
      return true;
  return false;
}

static bool has_row(const char *name, size_t length) {
  for (size_t i = 0; i < LIBRARY_ROWS; i++)
    if (occurs(name, length, library_rows[i].expression))
      return true;
  return false;
}

// A line of the library that begins with a letter defines or declares what it begins with.
TEST(every_function_has_a_row) {
  size_t found = 0;
  for (size_t i = 0; i < stdlib_file_count; i++) {
    const char *line = (const char *)stdlib_files[i].text, *end = line + stdlib_files[i].length;
    for (const char *next; line < end; line = next) {
      size_t length = 0;
      while (line + length < end && is_letter(line[length]))
        length++;
      const char *newline = memchr(line, '\n', (size_t)(end - line));
      next = newline ? newline + 1 : end;
      found += length > 0;
      if (length > 0 && !CHECK(has_row(line, length)))
        printf("%s: no row has %.*s\n", stdlib_files[i].name, (int)length, line);
    }
  }
  CHECK(found > 80);
}

// ---- on the host -------------------------------------------------------------------------------

enum { BATCH = 8 };

typedef struct trial {
  const library_row *row;
  permc_context *context;
  permc_value **arguments;
  size_t argument_count;
  result oracle;
  char name[200];
} trial;

static bool prepare(const library_row *r, trial *t, kernels *k) {
  *t = (trial){.row = r, .context = permc_context_new()};
  snprintf(t->name, sizeof t->name, "%s of %s", r->expression, r->types);
  *k = (kernels){.name = t->name};
  permc_context *c = t->context;
  bool good = c && permc_define(c, r->expression) &&
              permc_read_random(c, "-e", r->types, 1, &t->arguments, &t->argument_count) &&
              permc_run(c, "-e", "interp", t->arguments, t->argument_count, &t->oracle.values,
                        &t->oracle.count) &&
              kernels_make(k, c, "-e", r->types);
  if (!CHECK(good))
    printf("%s: %s\n", t->name, c ? permc_message(c) : "");
  return good;
}

static void finish(trial *t, kernels *k) {
  result found = {0};
  bool good = kernels_run(k, t->arguments, t->argument_count, &t->oracle, &found);
  for (size_t v = 0; v < found.count; v++)
    for (size_t i = 0; good && i < permc_value_components(found.values[v]); i++)
      good = CHECK(kernels_equal(t->oracle.values[v], found.values[v], i));
  good = good && kernels_check_counts(k);
  if (!good)
    printf("%s\n", t->name);
  free_result(&found);
}

static void clear(trial *t, kernels *k) {
  kernels_free(k);
  free_result(&t->oracle);
  permc_values_free(t->arguments, t->argument_count);
  permc_context_free(t->context);
}

TEST(library) {
  static trial trials[BATCH];
  static kernels all[BATCH];
  kernels_counts sums = {0};
  if (kernels_no_compiler())
    SKIP("there is no C compiler");
  size_t step = test_step(2);
  for (size_t first = 0; first < LIBRARY_ROWS; first += BATCH * step) {
    size_t left = (LIBRARY_ROWS - first + step - 1) / step, count = left < BATCH ? left : BATCH;
    bool good = true;
    for (size_t i = 0; i < count; i++)
      good = prepare(&library_rows[first + i * step], &trials[i], &all[i]) && good;
    if (good)
      kernels_compile(all, count);
    for (size_t i = 0; i < count; i++) {
      if (good)
        finish(&trials[i], &all[i]);
      sums.whole += all[i].counts.whole;
      sums.scratch += all[i].counts.scratch;
      clear(&trials[i], &all[i]);
    }
  }
  CHECK(sums.whole > 100000 && sums.scratch > 100000);
}

// ---- NVRTC -------------------------------------------------------------------------------------

// The section of that type and name of a cubin, an ELF file. NULL: there is none.
static const Elf64_Shdr *section(const char *cubin, uint32_t type, const char *name) {
  const Elf64_Ehdr *head = (const void *)cubin;
  const Elf64_Shdr *all = (const void *)(cubin + head->e_shoff);
  const char *names = cubin + all[head->e_shstrndx].sh_offset;
  for (uint32_t i = 0; i < head->e_shnum; i++)
    if (all[i].sh_type == type && (!name || !strcmp(names + all[i].sh_name, name)))
      return &all[i];
  return NULL;
}

static const char *symbol_name(const char *cubin, uint32_t number) {
  const Elf64_Shdr *symbols = section(cubin, SHT_SYMTAB, NULL);
  const Elf64_Shdr *strings = (const Elf64_Shdr *)(cubin + ((const Elf64_Ehdr *)cubin)->e_shoff);
  const Elf64_Sym *all = (const void *)(cubin + symbols->sh_offset);
  return cubin + strings[symbols->sh_link].sh_offset + all[number].st_name;
}

// Kernels that do have local memory, up to an architecture. Whoever mends one takes its row away: a
// row that has none fails.
static const struct {
  const char *expression, *types;
  uint32_t newest;
} local_memory[] = {
    // ops/exchange.c: a thread whose keys are not all numbers goes through its columns in a loop,
    // on an array. It is no spill: numbers stay in registers.
    {"column (2^15 + 1) compare_exchange", "[2^16]f32", UINT32_MAX},
    {"map sort", "[16][2^8]f32", UINT32_MAX},
    {"map sort", "[11][2^7]f64", UINT32_MAX},
    {"padded maxval sort", "[2500]f32", UINT32_MAX},
};

static bool may_have_local_memory(const library_row *r, uint32_t architecture) {
  for (size_t i = 0; i < sizeof local_memory / sizeof *local_memory; i++)
    if (!strcmp(local_memory[i].expression, r->expression) &&
        !strcmp(local_memory[i].types, r->types))
      return architecture <= local_memory[i].newest;
  return false;
}

// What a cubin says of its functions: .nv.info is a list of attributes; the one that is looked for
// has the number of a symbol and the bytes of local memory of a thread: what registers were spilled
// to, and arrays that are no registers. Returns how many functions say it, and the most bytes.
enum { NV_INFO = 0x70000000, NV_INFO_PAIR = 4, NV_FRAME_SIZE = 0x11 };
static uint32_t read_frames(const kernels_job *j, uint32_t *most, const char **name) {
  const Elf64_Shdr *info = section(j->cubin, NV_INFO, ".nv.info");
  uint32_t found = 0;
  *most = 0;
  for (uint64_t at = 0; info && at + 4 <= info->sh_size;) {
    const unsigned char *item = (const unsigned char *)j->cubin + info->sh_offset + at;
    uint16_t size;
    uint32_t pair[2];
    memcpy(&size, item + 2, sizeof size);
    memcpy(pair, item + 4, item[0] == NV_INFO_PAIR && size == 8 ? 8 : 0);
    at += item[0] == NV_INFO_PAIR ? 4U + size : 4U;
    if (item[0] != NV_INFO_PAIR || item[1] != NV_FRAME_SIZE)
      continue;
    found++;
    if (pair[1] >= *most)
      *name = symbol_name(j->cubin, pair[0]);
    *most = pair[1] > *most ? pair[1] : *most;
  }
  return found;
}

// The section of variables of a module, which all launches share, also those at the same time.
#define KEPT ".nv.global"

static void check_job(const kernels_job *j, const library_row *r, uint32_t kernel_count) {
  uint32_t most = 0;
  const char *name = "";
  bool good = CHECK_STR(j->cubin ? NULL : j->message, NULL) &&
              CHECK(read_frames(j, &most, &name) >= kernel_count) &&
              CHECK(may_have_local_memory(r, (uint32_t)j->architecture) == (most > 0)) &&
              CHECK(!memmem(j->cubin, j->size, KEPT, sizeof KEPT));
  if (!good)
    printf("%s of %s for sm_%d: %s has %u bytes of local memory\n", r->expression, r->types,
           j->architecture, name, most);
}

// The text of a row's kernels, to be freed. *kernel_count: how many.
static char *text_of(const library_row *r, uint32_t *kernel_count) {
  permc_context *c = permc_context_new();
  kernels k = {.name = r->expression};
  char *found = NULL;
  if (c && CHECK(permc_define(c, r->expression)) && CHECK(kernels_make(&k, c, "-e", r->types))) {
    found = kernels_gpu_text(&k);
    for (uint32_t i = 0; i < k.code.pass_count; i++)
      *kernel_count += k.code.facts[i].kernel == i && k.code.facts[i].threads;
  }
  kernels_free(&k);
  permc_context_free(c);
  return found;
}

TEST(compiled_for_gpus) {
  static char why[NVRTC_WHY];
  static kernels_job jobs[KERNELS_ARCHITECTURES * LIBRARY_ROWS];
  uint32_t count = 0, number[KERNELS_ARCHITECTURES * LIBRARY_ROWS],
           kernel_count[LIBRARY_ROWS] = {0};
  char *texts[LIBRARY_ROWS] = {0};
  if (kernels_no_nvrtc(why, sizeof why))
    SKIP(why);
  for (uint32_t i = 0; i < LIBRARY_ROWS; i += (uint32_t)test_step(6)) {
    texts[i] = text_of(&library_rows[i], &kernel_count[i]);
    for (uint32_t a = 0; texts[i] && a < kernels_architecture_count(); a++) {
      if (a != i / test_step(6) % kernels_architecture_count() && !test_all())
        continue;
      number[count] = i;
      jobs[count++] =
          (kernels_job){.text = texts[i], .architecture = (int)kernels_architectures[a]};
    }
  }
  kernels_compile_for_gpus(jobs, count);
  for (uint32_t i = 0; i < count; i++) {
    check_job(&jobs[i], &library_rows[number[i]], kernel_count[number[i]]);
    free(jobs[i].cubin);
  }
  for (size_t i = 0; i < LIBRARY_ROWS; i++)
    free(texts[i]);
}

TEST_MAIN()
