// See program.h.
#include "tool/bench/program.h"
#include "core/clock.h"
#include "runtime/cuda/cuda.h"
#include "runtime/gpu/context.h"
#include "runtime/system/pool.h"
#include "runtime/system/speed.h"
#include "tool/bench/lengths.h"
#include "tool/bench/permutation.h"
#include "tool/testing/compare.h"

// ---- opening ------------------------------------------------------------------------------------

static bool load_program(bench_program *p, const bench_request *r) {
  permc_context *c = p->context;
  if (cli_use_options(r->args, c) != CLI_OK ||
      (r->strategy && !cli_report(c, permc_use_strategy(c, r->strategy))) ||
      (r->layout && !cli_report(c, permc_use_layout(c, r->layout))))
    return false;
  permc_use_threads(c, r->threads);
  size_t length = r->program ? strlen(r->program) : 0;
  return (!r->program || cli_report(c, permc_load_text(c, "suite", r->program, length))) &&
         cli_load(c, r->file, r->expression);
}

static bool read_arguments(bench_program *p, const bench_request *r) {
  double start = clock_seconds();
  bool good = cli_read_data(p->context, r->entry, &r->data, &p->arguments, &p->argument_count);
  p->read_seconds = clock_seconds() - start;
  return good;
}

static bool run_once(void *with) {
  bench_program *p = with;
  permc_error why;
  if (!p->results && !(p->results = permc_results_new(p->compiled, &p->result_count)))
    return context_error(p->context, "out of memory");
  return permc_call(p->compiled, p->arguments, p->argument_count, p->results, p->result_count, NULL,
                    &why) == PERMC_OK ||
         context_fail(p->context, &why);
}

// Before its arguments are made, which may take longer than all the rest: opens the GPU.
static bool open_gpu(bench_program *p, const bench_request *r) {
  char why[CUDA_WHY];
  if (!r->gpu_only || cuda_open_for(p->context, why, sizeof why))
    return true;
  cli_error("bench: this case needs a GPU: %s", why);
  return false;
}

// After the arguments are made, all of each.
static bool use_ranks(bench_program *p, const bench_request *r) {
  permc_ranks ranks = {.transport = "threads", .count = r->ranks};
  return r->ranks == 1 || cli_report(p->context, permc_use_ranks(p->context, &ranks));
}

static bool compile_and_run(bench_program *p, const bench_request *r) {
  if (!use_ranks(p, r))
    return false;
  (void)speed_of_machine(true);  // what is predicted is shown
  p->compiled = permc_compile(p->context, r->entry, r->backend, p->arguments, p->argument_count);
  p->times = permc_last_times(p->context);
  p->passes = p->context->passes;
  p->predicted = r->ranks > 1 ? 0 : p->context->predicted;
  if (p->compiled && r->ranks > 1)
    permc_use_ranks(p->context, NULL);  // interp, which verifies, is on none
  if (!cli_report(p->context, p->compiled != NULL))
    return false;
  if (r->gpu_only && !permc_compiled_device(p->compiled)) {
    cli_error("bench: this case needs a GPU, which cannot run it");
    return false;
  }
  return cli_report(p->context, run_once(p));
}

// The first argument becomes a permutation, as if read from a schedule.
static bool make_permutation(bench_program *p, const char *name) {
  array *a = name ? &p->arguments[0]->components[0] : NULL;
  if (!a)
    return true;
  a->permutation = bench_permutation_write(name, ++p->seed, a->data, array_count(a));
  return a->permutation || (cli_out_of_memory(), false);
}

// The first argument becomes offsets of rows of the second one's elements.
static bool make_offsets(bench_program *p, const char *lengths) {
  if (!lengths)
    return true;
  array *offsets = &p->arguments[0]->components[0];
  uint64_t elements = array_count(&p->arguments[1]->components[0]);
  return bench_offsets_write(lengths, offsets->data, array_count(offsets) - 1, elements) ||
         (cli_out_of_memory(), false);
}

bool bench_program_open(bench_program *p, const bench_request *r) {
  *p = (bench_program){.context = cli_context_new()};
  bool good = p->context && load_program(p, r) && open_gpu(p, r) && read_arguments(p, r) &&
              make_permutation(p, r->permutation) && make_offsets(p, r->lengths) &&
              compile_and_run(p, r);
  double seconds;
  p->directs = r->permutation || r->lengths;
  p->draws = r->draws > 0;
  p->on_device = good && permc_time_call(p->compiled, 1, &seconds);
  if (!good)
    bench_program_close(p);
  return good;
}

void bench_program_close(bench_program *p) {
  permc_compiled_free(p->compiled);
  permc_values_free(p->arguments, p->argument_count);
  permc_values_free(p->results, p->result_count);
  permc_context_free(p->context);
  *p = (bench_program){0};
}

static bool time_on_device(bench_program *p, uint64_t bytes, unsigned runs, double *seconds) {
  return bytes ? permc_time_copy(p->compiled, bytes, runs, seconds)
               : permc_time_call(p->compiled, runs, seconds);
}

// Enough runs that the device's clock, exact to a microsecond, tells them apart.
static bool device_turn(bench_program *p, bench_repeats *r, uint64_t bytes, double *seconds) {
  const double enough = 5e-4;
  if (r->count == 0) {
    if (!time_on_device(p, bytes, 1, seconds))
      return cli_report(p->context, false);
    r->count = *seconds * 100 < enough ? 100 : (unsigned)(enough / *seconds) + 1;
  }
  return cli_report(p->context, time_on_device(p, bytes, r->count, seconds));
}

bool bench_device_copy_turn(void *with, double *seconds) {
  bench_program *p = with;
  return device_turn(p, &p->copy_repeats, bench_program_copied(p), seconds);
}

bool bench_program_turn(void *with, double *seconds) {
  bench_program *p = with;
  if (p->draws && !(make_permutation(p, "random") && cli_report(p->context, run_once(p))))
    return false;
  if (p->on_device)
    return device_turn(p, &p->repeats, 0, seconds);
  return bench_time(&p->repeats, run_once, p, seconds) || cli_report(p->context, false);
}

// ---- sizes --------------------------------------------------------------------------------------

static uint64_t value_bytes(permc_value *const *values, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < values[i]->count; k++)
      sum += array_bytes(&values[i]->components[k]);
  return sum;
}

uint64_t bench_program_bytes(const bench_program *p) {
  return value_bytes(p->arguments, p->argument_count) + value_bytes(p->results, p->result_count);
}

uint64_t bench_program_copied(const bench_program *p) {
  return (bench_program_bytes(p) - (p->directs ? value_bytes(p->arguments, 1) : 0)) / 2;
}

uint64_t bench_program_elements(const bench_program *p) {
  uint64_t sum = 0;
  for (size_t i = 0; i < p->argument_count; i++)
    if (p->arguments[i]->count > 0)
      sum += array_count(&p->arguments[i]->components[0]);
  return sum;
}

// ---- verifying ----------------------------------------------------------------------------------

enum { LARGEST_FOR_INTERP = 1 << 25 };  // bytes

// Bytes in stretches, by all threads.
typedef struct byte_job {
  char *bytes;
  uint64_t count;
} byte_job;

enum { STRETCH = 1 << 20 };

static bool overwrite_stretches(void *with, unsigned worker, uint64_t first, uint64_t last) {
  (void)worker;
  byte_job *j = with;
  for (uint64_t i = first; i < last; i++) {
    uint64_t start = i * STRETCH, left = j->count - start;
    memset(j->bytes + start, 0xa5, left < STRETCH ? left : STRETCH);
  }
  return true;
}

// The hash of all results; then they have other bytes.
static uint64_t overwrite_results(const bench_program *p, bool overwrite) {
  uint64_t hash = 0;
  for (size_t i = 0; i < p->result_count; i++)
    for (size_t k = 0; k < p->results[i]->count; k++) {
      const array *a = &p->results[i]->components[k];
      byte_job j = {.bytes = a->data, .count = array_bytes(a)};
      hash = hash * 31 + pool_hash(pool_processors(), j.bytes, j.count);
      if (overwrite)
        pool_run(pool_processors(), (j.count + STRETCH - 1) / STRETCH, 1, overwrite_stretches, &j,
                 NULL);
    }
  return hash;
}

// The results of the last timed run are those of this one, which starts with other bytes in its
// results, so that nothing right can be left over from an earlier run.
static bool run_again(bench_program *p) {
  uint64_t before = overwrite_results(p, true);
  if (!cli_report(p->context, run_once(p)))
    return false;
  if (overwrite_results(p, false) == before)
    return true;
  cli_error("two runs on the same arguments gave different results");
  return false;
}

// *ran: whether interp, which says so itself, did not fail.
static bool equals_interp(bench_program *p, const bench_request *r, bool *ran, text *why) {
  permc_value **values = NULL;
  size_t count = 0;
  *ran = cli_report(p->context, permc_run(p->context, r->entry, "interp", p->arguments,
                                          p->argument_count, &values, &count));
  bool good = *ran && values_equal("result", values, count, p->results, p->result_count, why, NULL);
  permc_values_free(values, count);
  return good;
}

// The properties of suites speak of one argument and one result: an array each, or an array of
// tuples; of permutations and of rows of unequal length, of places or offsets as well.
static bool has_property(const bench_program *p, const bench_case *c, bench_error *measured,
                         text *why) {
  if (c->property == BENCH_PERMUTED || c->property == BENCH_RAGGED) {
    enum { MOST_PARTS = 2 };
    const permc_value *moved = p->arguments[1];
    size_t parts = moved->count < MOST_PARTS ? moved->count : MOST_PARTS;
    array given[1 + MOST_PARTS] = {p->arguments[0]->components[0]};
    memcpy(given + 1, moved->components, parts * sizeof *given);
    const char *wrong = bench_check(c, given, p->results[0]->components, parts, why, measured);
    text_string(why, wrong ? wrong : "");
    return !wrong;
  }
  bool alike = p->argument_count == 1 && p->result_count == 1;
  bool folds = c->property == BENCH_SUMS || c->property == BENCH_MAXIMUM;
  const permc_value *given = alike ? p->arguments[0] : NULL, *found = alike ? p->results[0] : NULL;
  alike = alike && given->count == found->count && given->count > 0;
  for (size_t k = 0; alike && k < given->count; k++) {
    const array *a = &given->components[k], *b = &found->components[k];
    uint64_t count = folds && array_count(b) == 1 ? 1 : array_count(a);
    alike = a->type == b->type && array_count(b) == count &&
            array_count(a) == array_count(&given->components[0]);
  }
  const char *wrong = "another shape";
  if (alike)
    wrong = bench_check(c, given->components, found->components, given->count, why, measured);
  if (wrong && !why->length)
    text_string(why, wrong);
  return !wrong;
}

bool bench_program_verify(bench_program *p, const bench_request *r, const bench_case *c) {
  text why = {0};
  bench_error measured = {0, 0};
  bool good = run_again(p), verified = good;
  if (good && c->property != BENCH_INTERP)
    good = has_property(p, c, &measured, &why);
  else if (good && bench_program_bytes(p) <= LARGEST_FOR_INTERP)
    good = equals_interp(p, r, &verified, &why);
  else
    verified = false;
  if (verified)
    snprintf(p->verified, sizeof p->verified, "%s", bench_property_name(c->property));
  if (verified && c->property == BENCH_FOURIER)
    snprintf(p->verified, sizeof p->verified, "error %.1e, largest %.1e", measured.mean,
             measured.largest);
  if (!good && verified && (why.failed || !why.data))
    cli_out_of_memory();
  else if (!good && verified)
    cli_error("%s: the result is wrong: %s", c->name, why.data);
  text_free(&why);
  return good;
}
