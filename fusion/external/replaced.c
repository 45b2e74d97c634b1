// Arrays that a step replaces in part. See external.h.
#include "fusion/external/making.h"

static bool is_all_of_file(const external *e, const external_move *m) {
  return m->whole && !m->by_bits && m->box.first == 0 &&
         m->elements == e->arrays.items[m->file].count;
}

// Whether some of the first `count` steps write to the file.
static bool is_written(const external *e, size_t count, net_id file) {
  bool any = false;
  for (size_t i = 0; i < count; i++) {
    const external_step *s = &e->steps.items[i];
    for (size_t k = 0; k < s->writes.count; k++)
      any = any || s->writes.items[k].file == file;
    for (uint32_t k = 0; s->routine && k < s->routine->pair_count; k++)
      any = any || s->routine->pairs[k].to == file;
  }
  return any;
}

static void rename_file(net_id *file, net_id from, net_id to) {
  *file = *file == from ? to : *file;
}

// What the first `count` steps write to the file goes to another.
static void redirect(external *e, size_t count, net_id file, net_id to) {
  for (size_t i = 0; i < count; i++) {
    external_step *s = &e->steps.items[i];
    for (size_t k = 0; k < s->writes.count; k++) {
      rename_file(&s->writes.items[k].before, file, to);
      rename_file(&s->writes.items[k].file, file, to);
    }
    for (uint32_t k = 0; s->routine && k < s->routine->pair_count; k++)
      rename_file(&s->routine->pairs[k].to, file, to);
  }
}

// Whether the parts of the array that shares have are theirs alone.
static bool has_own_parts(const external *e, size_t step, const external_move *m) {
  const external_moves *writes = &e->steps.items[step].writes;
  bool own = external_move_has_each_once(m);
  for (size_t i = 0; i < writes->count && own; i++)
    own = &writes->items[i] == m || writes->items[i].file != m->file;
  return own;
}

void making_renew_replaced(making *m) {
  external *e = m->out;
  for (size_t i = 0; i < e->steps.count; i++)
    for (size_t k = 0; k < e->steps.items[i].writes.count; k++) {
      external_move *w = &e->steps.items[i].writes.items[k];
      if (!w->partial || w->before != w->file)
        continue;
      bool all = is_all_of_file(e, w), written = is_written(e, i, w->file);
      if (all && written) {
        w->before = making_add_file(m, &e->arrays.items[w->file]);
        redirect(e, i, w->file, w->before);
      } else if (!written && (all || has_own_parts(e, i, w))) {
        w->before = NET_NONE;
      }
    }
}
