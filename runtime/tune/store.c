// Targets that were found by measuring, as texts in the cache (target.h has the form). See tune.h.
#include "runtime/tune/tune.h"

#include "runtime/backend.h"
#include "runtime/cuda/cuda.h"
#include "runtime/system/pool.h"

#include <stdio.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

// ---- the machine -------------------------------------------------------------------------------

// "AMD EPYC 9554 64-Core Processor". False: it does not say.
static bool processor_model(char out[64]) {
#if defined(__x86_64__)
  unsigned r[12];
  if ((unsigned)__get_cpuid_max(0x80000000, NULL) < 0x80000004U)
    return false;
  for (unsigned i = 0; i < 3; i++)
    __cpuid(0x80000002 + i, r[4 * i], r[4 * i + 1], r[4 * i + 2], r[4 * i + 3]);
  memcpy(out, r, sizeof r);
  out[sizeof r] = 0;
  size_t length = strlen(out), blanks = strspn(out, " ");
  memmove(out, out + blanks, length - blanks + 1);
  for (length -= blanks; length > 0 && out[length - 1] == ' ';)
    out[--length] = 0;
  return length > 0;
#else
  (void)out;
  return false;
#endif
}

static bool name_machine(const permc_context *c, const target *machine, char *out, size_t size) {
  char model[64];
  if (machine->lane_bytes == 0) {
    const cuda_facts *facts = c->gpu ? cuda_facts_of(c->gpu) : NULL;
    if (facts)
      snprintf(out, size, "%s, %s, sm_%d", machine->name, facts->name, facts->capability);
    return facts != NULL;
  }
  if (processor_model(model))
    snprintf(out, size, "%s, %s", machine->name, model);
  else
    snprintf(out, size, "%s, %u processors", machine->name, pool_processors());
  return true;
}

// ---- the key -----------------------------------------------------------------------------------

// All fields, so that what was found beside another table of targets is not used.
static void print_fields(text *out, const target *t) {
  for (size_t i = 0; i < target_field_count(); i++) {
    text_printf(out, "%s ", target_field_at(i).name);
    target_print_field(out, t, i);
    text_string(out, "\n");
  }
}

static bool make_key(const net *n, const target *machine, const char *device, char key[CACHE_KEY]) {
  unsigned char out[DIGEST_BYTES];
  text all = {0};
  text_printf(&all, "permc " PERMC_VERSION " tuned\n%s\n", device);
  print_fields(&all, machine);
  net_print(&all, n);
  bool good = !all.failed && all.data;
  if (good) {
    digest d = digest_start();
    digest_add(&d, all.data, all.length);
    digest_finish(&d, out);
    digest_hex(out, key);
  }
  text_free(&all);
  return good;
}

// ---- entries -----------------------------------------------------------------------------------

bool tune_keep(const cache *c, const char key[CACHE_KEY], const target *machine,
               const tune_point *p, char path[CACHE_PATH], const char **why) {
  char content[CACHE_TEXT];
  snprintf(content, sizeof content,
           "base = %s\ntile_bytes = %llu\nregister_bytes = %llu\nwide_bytes = %llu\nadapts = 0\n",
           machine->name, (unsigned long long)p->bytes[TUNE_TILE],
           (unsigned long long)p->bytes[TUNE_REGISTERS], (unsigned long long)p->bytes[TUNE_WIDE]);
  return cache_keep_text(c, key, content, path, why);
}

// Of what is stored only the numbers that were tuned are taken.
bool tune_find(const cache *c, const char key[CACHE_KEY], arena *memory, const target *machine,
               target *out) {
  char content[CACHE_TEXT];
  const char *wrong = NULL;
  if (!cache_find_text(c, key, content))
    return false;
  const target *read = target_read(memory, content, &wrong);
  if (!read)
    return false;
  tune_point p = tune_point_of(read);
  *out = tune_target_at(machine, &p);
  return true;
}

// ---- what to plan for --------------------------------------------------------------------------

static double work_of(const net_stage *s) {
  double work = (double)(s->ops.count + 1) * (double)f2_unit(s->n);
  for (uint32_t i = 0; i < s->loop_count; i++)
    work *= (double)s->extents[i];
  return work;
}

static void find_chosen(tune_trial *t, arena *memory, const net *n, const target *machine) {
  double most = -1;
  t->machine = machine;
  t->chosen = tune_point_of(machine);
  t->same = true;
  for (size_t i = 0; i < n->stages.count; i++) {
    const net_stage *s = &n->stages.items[i];
    tune_point p = tune_point_of(plan_stage_target(memory, machine, s));
    t->same = t->same && (i == 0 || memcmp(&p, &t->chosen, sizeof p) == 0);
    if (work_of(s) > most) {
      most = work_of(s);
      t->chosen = p;
    }
  }
}

const target *tune_target(permc_context *c, arena *memory, const net *n, const target *machine,
                          bool *tuned) {
  tune_trial *trial = c->trial;
  char device[sizeof trial->device], key[CACHE_KEY] = "";
  cache folder;
  *tuned = false;
  if (!trial)
    cache_look(&folder);
  if ((!trial && !folder.folder[0]) || !name_machine(c, machine, device, sizeof device) ||
      !make_key(n, machine, device, key))
    return machine;
  if (trial) {
    memcpy(trial->key, key, sizeof key);
    memcpy(trial->device, device, sizeof device);
    find_chosen(trial, memory, n, machine);
    if (!trial->target || !trial->target->lane_bytes != !machine->lane_bytes)
      return machine;
  }
  target *found = NEW(memory, target);
  if (trial) {
    *found = *trial->target;
    return found;
  }
  *tuned = tune_find(&folder, key, memory, machine, found);
  return *tuned ? found : machine;
}
