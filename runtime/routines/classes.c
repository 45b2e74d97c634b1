// Counts, sums, and moves. See classes.h.
#include "runtime/routines/classes.h"
#include "core/sizes.h"

#include <string.h>

static bool are_two(const class_order *o) { return o->class_count == 2 && o->class_bytes == 1; }

static uint64_t chunks_of(const class_order *o) {
  return (o->count + CLASS_CHUNK - 1) / CLASS_CHUNK;
}

static uint64_t chunk_end(const class_order *o, uint64_t chunk) {
  uint64_t end = (chunk + 1) * CLASS_CHUNK;
  return end < o->count ? end : o->count;
}

typedef struct class_counting {
  const class_order *order;
  classify_elements *classify;
  const void *with;
} class_counting;

static bool count_classes(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const class_counting *c = with;
  const class_order *o = c->order;
  (void)worker;
#define COUNT(C)                                                                                   \
  for (uint64_t i = at; i < end; i++)                                                              \
    counts[((const C *)o->classes)[i]]++;
  for (uint64_t chunk = first; chunk < last; chunk++) {
    uint64_t *counts = o->starts + chunk * o->class_count;
    uint64_t at = chunk * CLASS_CHUNK, end = chunk_end(o, chunk);
    memset(counts, 0, o->class_count * sizeof *counts);
    c->classify(c->with, at, end, (char *)o->classes + at * o->class_bytes);
    if (are_two(o)) {  // to add to what has just been added to takes long
      for (uint64_t i = at; i < end; i++)
        counts[1] += ((const uint8_t *)o->classes)[i];
      counts[0] = end - at - counts[1];
    } else if (o->class_bytes == 1) {
      COUNT(uint8_t)
    } else {
      COUNT(uint16_t)
    }
  }
#undef COUNT
  return true;
}

bool class_order_find(const class_order *o, classify_elements *classify, const void *with) {
  class_counting c = {o, classify, with};
  memset(o->starts, 0, o->class_count * sizeof *o->starts);
  if (!crew_run(&o->crew, chunks_of(o), 1, count_classes, &c))
    return false;
  uint64_t sum = 0;
  for (uint32_t k = 0; k < o->class_count; k++)
    for (uint64_t chunk = 0; chunk < chunks_of(o) || chunk == 0; chunk++) {
      uint64_t *start = &o->starts[chunk * o->class_count + k], count = *start;
      *start = sum;
      sum += count;
    }
  return true;
}

typedef struct class_movement {
  const class_order *order;
  const char *from;
  char *to;
  size_t unit;
  bool back;
} class_movement;

// The next place of class 0 or 1, without a branch or a way through memory.
static inline uint64_t next_of_two(uint64_t next[2], uint64_t class) {
  uint64_t place = next[0] ^ ((next[0] ^ next[1]) & -class);
  next[0] += 1 - class;
  next[1] += class;
  return place;
}

static bool move_chunks(void *with, unsigned worker, uint64_t first, uint64_t last) {
  enum { FEW = 1 << 8 };
  const class_movement m = *(const class_movement *)with;
  const class_order o = *m.order;
  uint64_t few[FEW], *of_worker = o.starts + (o.count / CLASS_CHUNK + 1 + worker) * o.class_count;
  uint64_t *next = o.class_count > FEW ? of_worker : few;
#define EACH_OF_CHUNK for (uint64_t i = chunk * CLASS_CHUNK; i < end; i++)
#define OUT(U) EACH_OF_CHUNK memcpy(m.to + PLACE * (U), m.from + i * (U), (U));
#define BACK(U) EACH_OF_CHUNK memcpy(m.to + i * (U), m.from + PLACE * (U), (U));
#define INDEX(T) EACH_OF_CHUNK((T *)(void *)m.to)[PLACE] = (T)i;
#define MOVE(C)                                                                                    \
  const C *classes = o.classes;                                                                    \
  if (!m.from && m.unit == 4) {                                                                    \
    INDEX(uint32_t)                                                                                \
  } else if (!m.from) {                                                                            \
    INDEX(uint64_t)                                                                                \
  } else if (m.back) {                                                                             \
    FOR_UNIT_SIZE(m.unit, BACK)                                                                    \
  } else {                                                                                         \
    FOR_UNIT_SIZE(m.unit, OUT)                                                                     \
  }
  for (uint64_t chunk = first; chunk < last; chunk++) {
    uint64_t end = chunk_end(&o, chunk);
    memcpy(next, o.starts + chunk * o.class_count, o.class_count * sizeof *next);
    if (are_two(&o)) {
      uint64_t two[2] = {next[0], next[1]};
#define PLACE next_of_two(two, classes[i])
      MOVE(uint8_t)
#undef PLACE
#define PLACE next[classes[i]]++
    } else if (o.class_bytes == 1) {
      MOVE(uint8_t)
    } else {
      MOVE(uint16_t)
    }
#undef PLACE
  }
#undef EACH_OF_CHUNK
#undef OUT
#undef BACK
#undef INDEX
#undef MOVE
  return true;
}

bool class_order_move(const class_order *o, const void *from, void *to, size_t unit, bool back) {
  class_movement m = {o, from, to, unit, back};
  return crew_run(&o->crew, chunks_of(o), 1, move_chunks, &m);
}
