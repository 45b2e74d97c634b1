// Sorts of keys of all types, with payloads and in rows, by sorts of unsigned words and by
// counting.
//
// Keys alone: their bits in the order of their values are words; keys of few bits are counted.
// With payloads: a word is a key's rank and, below it, the index of its element, so that equal keys
// stay in order. Where the two have more bits than a word, the rank's high bits are sorted by
// first, and then, among those that are equal, the rest. Where ranks differ in few bits only, many
// words are put in order digit by digit, from the lowest on (Knuth, volume 3, section 5.2.5).
#include "runtime/routines/sort.h"
#include "core/sizes.h"
#include "runtime/routines/classes.h"
#include "runtime/routines/words_team.h"

#include <stdlib.h>
#include <string.h>

enum {
  LONG_ROW = 1 << 17,  // elements of a row that several threads sort together
  COUNTING_BITS = 16,  // at most, of keys that are counted
  COUNTING_SMALL = 8,  // bits for which there are four counts each
  DIGIT_BITS = 8,
};

// Elements first, ..., first + count - 1 of a task.
typedef struct row {
  const sort_task *task;
  crew crew;
  uint64_t first, count;
  key_order order;
  const word_sorter *sorters[2];  // of words of 4 and 8 bytes
} row;

typedef uint8_t __attribute__((may_alias)) key_8;
typedef uint16_t __attribute__((may_alias, aligned(1))) key_16;
typedef uint32_t __attribute__((may_alias, aligned(1))) key_32;
typedef uint64_t __attribute__((may_alias, aligned(1))) key_64;

static size_t key_size(const row *r) { return r->order.size; }
static const char *keys_of(const row *r) {
  return (const char *)r->task->keys + r->first * key_size(r);
}
static char *sorted_of(const row *r) { return (char *)r->task->sorted + r->first * key_size(r); }

static row describe_rows(const sort_task *t) {
  return (row){.task = t,
               .crew = t->crew,
               .order = t->order,
               .sorters = {word_sorter_find(4, 0), word_sorter_find(8, 0)}};
}

static bool sort_words(const row *r, size_t size, word_code in, word_code out, const void *from,
                       void *to, uint64_t count) {
  void *scratch =
      reserve(r->crew.memory, BLOCK_SCRATCH, word_task_scratch(count, r->crew.threads) * size);
  word_job j = {in, out, from, to, scratch, r->crew.interrupted};
  word_task t = {r->sorters[size == 8], j, count, r->crew};
  return scratch && word_sort(&t);
}

// ---- keys alone ---------------------------------------------------------------------------------

static bool are_counted(const key_order *o, uint64_t count) {
  return o->bits <= COUNTING_BITS && count >> (o->bits + 2);
}

// Sorts keys of few bits by how many there are of each. Of the fewest bits there are four counts of
// each, as adding to what has just been added to takes long.
static bool count_keys(const row *r) {
  const key_order o = r->order;
  uint64_t ranks = (uint64_t)1 << o.bits, lanes = o.bits <= COUNTING_SMALL ? 4 : 1, at = 0;
  uint64_t *counts = reserve(r->crew.memory, BLOCK_WORDS, lanes * ranks * sizeof *counts);
  if (!counts)
    return false;
  memset(counts, 0, lanes * ranks * sizeof *counts);
  const char *keys = keys_of(r);
  char *to = sorted_of(r);
#define COUNT(U)                                                                                   \
  for (uint64_t i = 0; i < r->count; i++)                                                          \
    counts[(i & (lanes - 1)) << o.bits | (load_key(keys, i, (U)) & (ranks - 1))]++;                \
  for (uint64_t rank = 0; rank < ranks; rank++) {                                                  \
    uint64_t key = key_decode(&o, rank), count = 0;                                                \
    for (uint64_t k = 0; k < lanes; k++)                                                           \
      count += counts[k << o.bits | (key & (ranks - 1))];                                          \
    for (; count > 0; count--, at++)                                                               \
      store_key(to, at, (U), key);                                                                 \
  }
  FOR_ELEMENT_SIZE(key_size(r), COUNT)
#undef COUNT
  return true;
}

// Sorts rows of `length` keys of fewer bytes than a word, as the high bits of words.
static bool sort_widened(const row *r, uint64_t length) {
  const uint32_t shift = 32 - 8 * (uint32_t)key_size(r);
  const word_code code = {r->order.code.negative << shift, r->order.code.all << shift};
  uint32_t *words = reserve(r->crew.memory, BLOCK_WORDS, (r->count + 1) * sizeof *words);
  void *scratch = reserve(r->crew.memory, BLOCK_SCRATCH, word_scratch(length) * sizeof *words);
  word_job j = {code, code, words, words, scratch, r->crew.interrupted};
  const void *keys = keys_of(r);
  void *to = sorted_of(r);
  bool bytes = key_size(r) == 1;
  if (!words || !scratch)
    return false;
  for (uint64_t i = 0; i < r->count && bytes; i++)
    words[i] = (uint32_t)((const key_8 *)keys)[i] << 24;
  for (uint64_t i = 0; i < r->count && !bytes; i++)
    words[i] = (uint32_t)((const key_16 *)keys)[i] << 16;
  if (!r->sorters[0]->sort_rows(&j, 0, length, r->count / length))
    return false;
  for (uint64_t i = 0; i < r->count && bytes; i++)
    ((key_8 *)to)[i] = (uint8_t)(words[i] >> 24);
  for (uint64_t i = 0; i < r->count && !bytes; i++)
    ((key_16 *)to)[i] = (uint16_t)(words[i] >> 16);
  return true;
}

// The NaN of an array in their order. How many those are.
static uint64_t collect_nan(const row *r, const char *keys, char *to) {
  size_t size = key_size(r);
  uint64_t found = 0;
  for (uint64_t i = 0; i < r->count; i++) {
    uint64_t key = load_key(keys, i, size);
    if (!key_is_nan(&r->order, key))
      continue;
    if (to)
      store_key(to, found, size, key);
    found++;
  }
  return found;
}

// The words' order has NaN at both ends. They are to be at one, in the order that they had.
static void place_nan(const row *r, const char *nan) {
  size_t size = key_size(r);
  char *to = sorted_of(r);
  uint64_t before = 0, after = 0;
  while (before < r->count && key_is_nan(&r->order, load_key(to, before, size)))
    before++;
  while (before + after < r->count &&
         key_is_nan(&r->order, load_key(to, r->count - 1 - after, size)))
    after++;
  uint64_t numbers = r->count - before - after, nans = before + after;
  if (nans == 0)
    return;
  bool first = order_is_descending(&r->order);
  memmove(to + (first ? nans * size : 0), to + before * size, numbers * size);
  char *end = to + (first ? 0 : numbers * size);
  if (nan)
    memcpy(end, nan, nans * size);
  else
    collect_nan(r, keys_of(r), end);
}

static bool sort_keys(const row *r) {
  size_t size = key_size(r);
  char *nan = NULL;
  if (r->order.infinity != UINT64_MAX && r->task->keys == r->task->sorted) {
    uint64_t nans = collect_nan(r, keys_of(r), NULL);
    if (nans && !(nan = reserve(r->crew.memory, BLOCK_MOVED, nans * size)))
      return false;
    if (nans)
      collect_nan(r, keys_of(r), nan);
  }
  bool good = false;
  if (are_counted(&r->order, r->count))
    good = count_keys(r);
  else if (size < 4)
    good = sort_widened(r, r->count);
  else
    good = sort_words(r, size, r->order.code, r->order.code, keys_of(r), sorted_of(r), r->count);
  if (good && r->order.infinity != UINT64_MAX)
    place_nan(r, nan);
  return good;
}

// ---- keys with payloads -------------------------------------------------------------------------

// Words of an order: a window of the ranks' bits above the bits of an index.
typedef struct order {
  const row *row;
  size_t size;  // of a word
  void *words;
  uint32_t index_bits;
  uint32_t low;   // the rank's lowest bit in the window
  uint64_t rank;  // the bits of ranks that are sorted by,
  uint64_t same;  //   and those that all have, which are above them
} order;

static inline uint64_t ordered_word(const order *o, uint64_t i) {
  return o->size == 4 ? ((const uint32_t *)o->words)[i] : ((const uint64_t *)o->words)[i];
}

static inline uint64_t index_at(const order *o, uint64_t i) {
  return ordered_word(o, i) & (((uint64_t)1 << o->index_bits) - 1);
}

// Arithmetic is of words, which compilers turn into that of vectors.
static bool make_words(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const order o = *(const order *)with;
  const key_order k = o.row->order;
  const void *keys = keys_of(o.row);
  (void)worker;
#define MAKE(K, T, word)                                                                           \
  for (uint64_t i = first; i < last; i++) {                                                        \
    T key = (T)((const K *)keys)[i];                                                               \
    T rank = key ^ (key > (T)k.magnitude ? (T)k.code.negative : 0) ^ (T)k.code.all;                \
    rank = (key & (T)k.magnitude) > (T)k.infinity ? (T)k.nan : rank;                               \
    ((word *)o.words)[i] = (word)((rank & (T)o.rank) >> o.low) << o.index_bits | (word)i;          \
  }
#define MAKE_BOTH(K, T)                                                                            \
  if (o.size == 4) {                                                                               \
    MAKE(K, T, uint32_t)                                                                           \
  } else {                                                                                         \
    MAKE(K, uint64_t, uint64_t)                                                                    \
  }
  if (k.size == 1) {
    MAKE_BOTH(key_8, uint32_t)
  } else if (k.size == 2) {
    MAKE_BOTH(key_16, uint32_t)
  } else if (k.size == 4) {
    MAKE_BOTH(key_32, uint32_t)
  } else {
    MAKE_BOTH(key_64, uint64_t)
  }
#undef MAKE_BOTH
#undef MAKE
  return true;
}

// Among words of the same window, sorts by the rank's bits below it.
static bool refine(const order *o, uint64_t first, uint64_t last, uint32_t low) {
  const row *r = o->row;
  uint64_t *words = o->words, index = ((uint64_t)1 << o->index_bits) - 1;
  for (uint64_t start = first, end; low > 0 && start < last; start = end) {
    for (end = start + 1;
         end < last && words[end] >> o->index_bits == words[start] >> o->index_bits;)
      end++;
    if (end - start == 1)
      continue;
    uint32_t window = 64 - o->index_bits, next = low > window ? low - window : 0;
    for (uint64_t i = start; i < end; i++) {
      uint64_t at = words[i] & index;
      uint64_t rank =
          key_rank(&r->order, load_key(keys_of(r), at, key_size(r))) & (((uint64_t)1 << low) - 1);
      words[i] = rank >> next << o->index_bits | at;
    }
    const word_code none = {0, 0};
    if (!sort_words(r, 8, none, none, words + start, words + start, end - start) ||
        !refine(o, start, end, next))
      return false;
  }
  return true;
}

// The bits from the lowest to the highest in which ranks differ.
static uint64_t differing(const row *r, uint64_t first) {
  uint64_t differ = 0;
#define DIFFER(U)                                                                                  \
  for (uint64_t i = 0; i < r->count; i++)                                                          \
    differ |= key_rank(&r->order, load_key(keys_of(r), i, (U))) ^ first;
  FOR_ELEMENT_SIZE(key_size(r), DIFFER)
#undef DIFFER
  return differ ? UINT64_MAX >> __builtin_clzll(differ) : 0;
}

// The digits of words from a bit on.
typedef struct digits {
  const void *words;
  size_t size;
  uint32_t low;
} digits;

static void find_digits(const void *with, uint64_t first, uint64_t last, void *classes) {
  const digits d = *(const digits *)with;
#define DIGIT(U)                                                                                   \
  for (uint64_t i = first; i < last; i++)                                                          \
    ((uint8_t *)classes)[i - first] = (uint8_t)(load_key(d.words, i, (U)) >> d.low);
  FOR_ELEMENT_SIZE(d.size, DIGIT)
#undef DIGIT
}

// Whether the ranks have so few digits that these are quicker than quicksort: that of vectors of 64
// bytes takes no longer than two digits.
static bool are_digits(const row *r, uint32_t bits) {
  uint32_t most = r->sorters[1]->vector < 64 ? 3 : 1;
  return bits <= most * DIGIT_BITS && r->count >= ROUTINE_DIGITS_LEAST;
}

// Sorts words by `bits` bits above those of the index, which are in order already.
static bool sort_digits(const row *r, order *o, uint32_t bits) {
  class_order c = {r->crew, r->count, 1 << DIGIT_BITS, 1, NULL, NULL};
  uint64_t room = class_order_starts(c.count, c.class_count, c.crew.threads) * sizeof *c.starts;
  digits d = {o->words, o->size, o->index_bits};
  char *spare = reserve(c.crew.memory, BLOCK_SCRATCH, room + c.count * (o->size + 1));
  bool good = spare != NULL;
  c.starts = (uint64_t *)(void *)spare;
  c.classes = spare + room + c.count * o->size;
  for (o->words = spare + room; good && d.low < o->index_bits + bits; d.low += DIGIT_BITS) {
    good = class_order_find(&c, find_digits, &d) &&
           class_order_move(&c, d.words, o->words, o->size, false);
    void *moved = o->words;
    o->words = (void *)d.words;
    d.words = moved;
  }
  o->words = (void *)d.words;
  return good;
}

// `room` (may be NULL) has 8 bytes for each element.
static bool make_order(const row *r, void *room, order *o) {
  *o = (order){.row = r, .size = 8, .rank = UINT64_MAX >> (64 - r->order.bits)};
  o->index_bits = r->count > 1 ? 64 - (uint32_t)__builtin_clzll(r->count - 1) : 0;
  if (r->order.bits + o->index_bits > 64 || r->count >= ROUTINE_DIGITS_LEAST) {
    uint64_t first = key_rank(&r->order, load_key(keys_of(r), 0, key_size(r))), all = o->rank;
    o->rank &= differing(r, first);
    o->same = first & all & ~o->rank;
  }
  uint32_t bits = o->rank ? 64 - (uint32_t)__builtin_clzll(o->rank) : 0;
  o->low = bits + o->index_bits > 64 ? bits + o->index_bits - 64 : 0;
  if (bits + o->index_bits <= 32)
    o->size = 4;
  o->words = room;
  if (!room || o->size < 8)
    o->words = reserve(r->crew.memory, BLOCK_WORDS, (r->count + 1) * o->size);
  const word_code none = {0, 0};
  if (!o->words || !crew_run(&r->crew, r->count, SORT_SHARE, make_words, o))
    return false;
  return are_digits(r, bits) ? sort_digits(r, o, bits)
                             : sort_words(r, o->size, none, none, o->words, o->words, r->count) &&
                                   refine(o, 0, r->count, o->low);
}

// A payload's elements in the order; `to` is not where they come from.
typedef struct movement {
  const order *order;
  const char *from;
  char *to;
  size_t size;
} movement;

static bool move_elements(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const movement *m = with;
  const order o = *m->order;
  (void)worker;
#define INDEX(word, T)                                                                             \
  for (uint64_t i = first; i < last; i++)                                                          \
    ((T *)(void *)m->to)[i] =                                                                      \
        (T)(((const word *)o.words)[i] & ((((uint64_t)1 << o.index_bits)) - 1));
  if (!m->from && m->size == 4 && o.size == 4) {
    INDEX(uint32_t, key_32)
    return true;
  } else if (!m->from && m->size == 4) {
    INDEX(uint64_t, key_32)
    return true;
  } else if (!m->from && o.size == 4) {
    INDEX(uint32_t, key_64)
    return true;
  } else if (!m->from) {
    INDEX(uint64_t, key_64)
    return true;
  }
#undef INDEX
#define MOVE(U)                                                                                    \
  for (uint64_t i = first; i < last; i++)                                                          \
    memcpy(m->to + i * (U), m->from + index_at(&o, i) * (U), (U));
  FOR_UNIT_SIZE(m->size, MOVE)
#undef MOVE
  return true;
}

static bool move_payload(const order *o, const sort_payload *p) {
  const row *r = o->row;
  movement m = {o, p->from ? (const char *)p->from + r->first * p->size : NULL,
                (char *)p->to + r->first * p->size, p->size};
  char *to = m.to;
  if (p->from == p->to && !(m.to = reserve(r->crew.memory, BLOCK_MOVED, (r->count + 1) * p->size)))
    return false;
  if (!crew_run(&r->crew, r->count, SORT_SHARE, move_elements, &m))
    return false;
  if (m.to != to)
    memcpy(to, m.to, r->count * p->size);
  return true;
}

static inline uint64_t ordered_rank(const order *o, uint64_t i) {
  return ordered_word(o, i) >> o->index_bits | o->same;
}

// Keys that the words have whole. There is NaN if there is one in the last place, or the first.
static bool has_whole_keys(const order *o) {
  const key_order *k = &o->row->order;
  return o->low == 0 && (k->infinity == UINT64_MAX ||
                         ordered_rank(o, order_is_descending(k) ? 0 : o->row->count - 1) != k->nan);
}

static bool decode_keys(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const order o = *(const order *)with;
  const row r = *o.row;
  char *to = sorted_of(&r);
  (void)worker;
#define DECODE(U)                                                                                  \
  for (uint64_t i = first; i < last; i++)                                                          \
    store_key(to, i, (U), key_decode(&r.order, ordered_rank(&o, i)));
  FOR_ELEMENT_SIZE(key_size(&r), DECODE)
#undef DECODE
  return true;
}

static bool move_keys(order *o) {
  const row *r = o->row;
  const sort_payload keys = {r->task->keys, r->task->sorted, key_size(r)};
  if (!r->task->sorted)
    return true;
  return has_whole_keys(o) ? crew_run(&r->crew, r->count, SORT_SHARE, decode_keys, o)
                           : move_payload(o, &keys);
}

// Words of 8 bytes lie where indices of 8 bytes are wanted. These come last.
static bool sort_with_payloads(const row *r) {
  const sort_task *t = r->task;
  const sort_payload *indices = NULL;
  for (uint32_t p = 0; p < t->payload_count; p++)
    if (!t->payloads[p].from && t->payloads[p].size == 8)
      indices = &t->payloads[p];
  order o;
  bool good = make_order(r, indices ? (uint64_t *)indices->to + r->first : NULL, &o);
  for (uint32_t p = 0; good && p < t->payload_count; p++)
    if (&t->payloads[p] != indices)
      good = move_payload(&o, &t->payloads[p]);
  good = good && move_keys(&o);
  return good && (!indices || move_payload(&o, indices));
}

// ---- rows ---------------------------------------------------------------------------------------

typedef struct rows {
  row like;               // but for what is of a row
  worker_memory *others;  // of each worker but the first
  uint64_t longest;       // longer rows are left out
} rows;

static worker_memory *memory_of(const rows *a, unsigned worker) {
  return worker ? &a->others[worker - 1] : a->like.crew.memory;
}

static uint64_t row_start(const sort_task *t, uint64_t number) {
  return t->offsets ? t->offsets[number] : number * t->length;
}

static bool sort_row(const rows *a, unsigned worker, uint64_t number, unsigned threads) {
  row r = a->like;
  const sort_task *t = r.task;
  r.crew.memory = memory_of(a, worker);
  r.crew.threads = threads;
  r.first = row_start(t, number);
  r.count = row_start(t, number + 1) - r.first;
  if (r.count == 0 || (!t->sorted && t->payload_count == 0))
    return true;
  return t->payload_count ? sort_with_payloads(&r) : sort_keys(&r);
}

// Whether rows are words in one code, of one length: they are sorted without more ado.
static bool are_words(const rows *a) {
  const row *r = &a->like;
  const sort_task *t = r->task;
  bool floats = r->order.infinity != UINT64_MAX;
  return !t->offsets && !t->payload_count && t->sorted && t->length && t->length <= a->longest &&
         !are_counted(&r->order, t->length) && !(floats && t->keys == t->sorted);
}

// Whether a row that is sorted as words has NaN: they are at its ends.
static bool has_nan(const row *r) {
  const char *sorted = sorted_of(r);
  size_t size = key_size(r);
  return key_is_nan(&r->order, load_key(sorted, 0, size)) ||
         key_is_nan(&r->order, load_key(sorted, r->count - 1, size));
}

static bool sort_rows_of_words(const rows *a, unsigned worker, uint64_t first, uint64_t last) {
  row r = a->like;
  const sort_task *t = r.task;
  size_t size = key_size(&r);
  word_job j = {r.order.code, r.order.code, t->keys, t->sorted, NULL, r.crew.interrupted};
  r.crew.memory = memory_of(a, worker);
  r.first = first * t->length;
  r.count = (last - first) * t->length;
  if (size < 4) {
    if (!sort_widened(&r, t->length))
      return false;
  } else if (!(j.scratch = reserve(r.crew.memory, BLOCK_SCRATCH, word_scratch(t->length) * size)) ||
             !r.sorters[size == 8]->sort_rows(&j, r.first, t->length, last - first)) {
    return false;
  }
  r.count = t->length;
  bool floats = r.order.infinity != UINT64_MAX;
  for (; floats && r.first < last * r.count; r.first += r.count)
    if (has_nan(&r))
      place_nan(&r, NULL);
  return true;
}

static bool sort_some_rows(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const rows *a = with;
  const sort_task *t = a->like.task;
  if (are_words(a))
    return sort_rows_of_words(a, worker, first, last);
  for (uint64_t i = first; i < last; i++)
    if (row_start(t, i + 1) - row_start(t, i) <= a->longest && !sort_row(a, worker, i, 1))
      return false;
  return true;
}

bool routine_sort(const sort_task *t) {
  uint64_t total = row_start(t, t->rows) - row_start(t, 0), most = total / SORT_SHARE;
  unsigned threads = most < t->crew.threads ? (unsigned)most + 1 : t->crew.threads;
  rows all = {describe_rows(t), NULL, threads > 1 ? LONG_ROW : UINT64_MAX};
  if (threads > 1 && !(all.others = calloc(threads - 1, sizeof *all.others)))
    return false;
  worker_memory own = {0};
  crew c = crew_begin(&t->crew, &own);
  c.threads = threads;
  all.like.crew = c;
  bool good = true;
  for (uint64_t i = 0; good && i < t->rows; i++)
    if (row_start(t, i + 1) - row_start(t, i) > all.longest)
      good = sort_row(&all, 0, i, threads);
  uint64_t share = t->rows && total / t->rows ? SORT_SHARE / (total / t->rows) + 1 : SORT_SHARE;
  good = good && crew_run(&c, t->rows, share, sort_some_rows, &all);
  crew_end(&t->crew, &c);
  for (unsigned w = 1; w < threads; w++)
    free_worker_memory(&all.others[w - 1]);
  free(all.others);
  return good;
}
