// The stored target of a program: its key, its entry, and which target the planner gets.
#include "runtime/tuned/tuned.h"

#include "runtime/system/pool.h"
#include "runtime/system/speed.h"

#include <stdio.h>

// ---- points ------------------------------------------------------------------------------------

tuned_point tuned_point_of(const target *t) {
  return (tuned_point){{t->tile_bytes, t->register_bytes, t->wide_bytes}};
}

target tuned_target_at(const target *own, const tuned_point *p) {
  target t = *own;
  t.tile_bytes = p->bytes[TUNED_TILE];
  t.register_bytes = (uint32_t)p->bytes[TUNED_REGISTERS];
  t.wide_bytes = (uint32_t)p->bytes[TUNED_WIDE];
  t.adapts = 0;
  return t;
}

// ---- the key -----------------------------------------------------------------------------------

static void describe_machine(const target *own, const char *gpu, char *out, size_t size) {
  char model[64];
  if (gpu || speed_processor_name(model))
    snprintf(out, size, "%s, %s", own->name, gpu ? gpu : model);
  else
    snprintf(out, size, "%s, %u processors", own->name, pool_processors());
}

// Of the program's net. With all fields that plans depend on: what was stored
// for another table of targets is not found.
static bool make_key(const net *n, const target *own, const char *machine, char key[CACHE_KEY]) {
  FREED_BY(text_free) text all = {0};
  text_printf(&all, "permc " PERMC_VERSION " tuned\n%s\n", machine);
  for (size_t i = 0; i < target_plan_field_count(); i++) {
    text_printf(&all, "%s ", target_field_at(i).name);
    target_print_field(&all, own, i);
    text_string(&all, "\n");
  }
  net_print(&all, n);
  bool good = !all.failed;
  if (good) {
    digest d = digest_start();
    digest_add(&d, all.data, all.length);
    digest_finish_hex(&d, key);
  }
  return good;
}

// ---- entries -----------------------------------------------------------------------------------

bool tuned_store(const cache *c, const char key[CACHE_KEY], const target *own, const tuned_point *p,
                 char path[CACHE_PATH], const char **why) {
  char content[CACHE_TEXT];
  snprintf(content, sizeof content,
           "base = %s\ntile_bytes = %llu\nregister_bytes = %llu\nwide_bytes = %llu\nadapts = 0\n",
           own->name, (unsigned long long)p->bytes[TUNED_TILE],
           (unsigned long long)p->bytes[TUNED_REGISTERS], (unsigned long long)p->bytes[TUNED_WIDE]);
  return cache_keep_bytes(c, CACHE_TUNED, key, content, strlen(content), path, why);
}

bool tuned_find(const cache *c, const char key[CACHE_KEY], arena *memory, const target *own,
                target *out) {
  char content[CACHE_TEXT];
  const char *wrong = NULL;
  const target *read =
      cache_find_text(c, CACHE_TUNED, key, content) ? target_read(memory, content, &wrong) : NULL;
  if (!read)
    return false;
  tuned_point p = tuned_point_of(read);  // the other fields are not to be had from an entry
  *out = tuned_target_at(own, &p);
  return true;
}

// ---- planning ----------------------------------------------------------------------------------

static double stage_work(const net_stage *s) {
  double work = (double)(s->ops.count + 1) * (double)f2_unit(s->n);
  for (uint32_t i = 0; i < s->loop_count; i++)
    work *= (double)s->extents[i];
  return work;
}

static void find_chosen_point(tuned_trial *t, arena *memory, const net *n) {
  double most = -1;
  t->chosen = tuned_point_of(t->own);
  t->same = true;
  for (size_t i = 0; i < n->stages.count; i++) {
    const net_stage *s = &n->stages.items[i];
    tuned_point p = tuned_point_of(plan_stage_target(memory, t->own, s));
    t->same = t->same && (i == 0 || memcmp(&p, &t->chosen, sizeof p) == 0);
    if (stage_work(s) > most) {
      most = stage_work(s);
      t->chosen = p;
    }
  }
}

const target *tuned_target(arena *memory, const net *n, const target *own, const char *gpu,
                           tuned_trial *trial, bool *tuned) {
  char machine[sizeof trial->machine], key[CACHE_KEY];
  cache folder;
  *tuned = false;
  if (!trial) {
    cache_look(&folder);
    if (!folder.folder[0])
      return own;
  }
  describe_machine(own, gpu, machine, sizeof machine);
  if (!make_key(n, own, machine, key))
    return own;
  target *stored = NEW(memory, target);
  if (!trial) {
    *tuned = tuned_find(&folder, key, memory, own, stored);
    return *tuned ? stored : own;
  }
  memcpy(trial->key, key, sizeof key);
  memcpy(trial->machine, machine, sizeof machine);
  trial->own = own;
  find_chosen_point(trial, memory, n);
  if (!trial->target || !trial->target->lane_bytes != !own->lane_bytes)
    return own;
  *stored = *trial->target;
  return stored;
}
