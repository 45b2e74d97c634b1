// Routines (program_text.h) on one processor, in C99. Part of each library made ahead of time.
//
// A sort goes over the ranks of the keys by 8 bits at a time, the lowest first; each rank goes with
// the index of its element. Few elements are inserted one after the other.

enum { PERMC_DIGIT = 256, PERMC_FEW = 48, PERMC_TILE = 32 };

// Ranks and indices, twice.
typedef struct permc_order {
  uint64_t *ranks[2];
  uint32_t *index[2];
} permc_order;

static permc_order permc_order_at(char *memory, uint64_t length) {
  permc_order o;
  o.ranks[0] = (uint64_t *)(void *)memory;
  o.ranks[1] = o.ranks[0] + length;
  o.index[0] = (uint32_t *)(void *)(o.ranks[1] + length);
  o.index[1] = o.index[0] + length;
  return o;
}

static uint64_t permc_word(const char *from, uint32_t bytes) {
  uint8_t one;
  uint16_t two;
  uint32_t four;
  uint64_t eight;
  switch (bytes) {
  case 1:
    memcpy(&one, from, 1);
    return one;
  case 2:
    memcpy(&two, from, 2);
    return two;
  case 4:
    memcpy(&four, from, 4);
    return four;
  default:
    memcpy(&eight, from, 8);
    return eight;
  }
}

static void permc_move(char *to, const char *from, uint32_t bytes) {
  switch (bytes) {
  case 1:
    *to = *from;
    break;
  case 2:
    memcpy(to, from, 2);
    break;
  case 4:
    memcpy(to, from, 4);
    break;
  case 8:
    memcpy(to, from, 8);
    break;
  case 16:
    memcpy(to, from, 16);
    break;
  default:
    memcpy(to, from, bytes);
  }
}

static void permc_insert(permc_order *o, uint64_t length) {
  uint64_t i, k;
  for (i = 1; i < length; i++) {
    uint64_t rank = o->ranks[0][i];
    uint32_t index = o->index[0][i];
    for (k = i; k > 0 && o->ranks[0][k - 1] > rank; k--) {
      o->ranks[0][k] = o->ranks[0][k - 1];
      o->index[0][k] = o->index[0][k - 1];
    }
    o->ranks[0][k] = rank;
    o->index[0][k] = index;
  }
}

// By one digit, unless all have the same. `alone`: indices are not wanted.
static void permc_distribute(permc_order *o, uint64_t length, uint32_t shift, int alone) {
  uint64_t starts[PERMC_DIGIT] = {0}, sum = 0, i;
  for (i = 0; i < length; i++)
    starts[o->ranks[0][i] >> shift & 255]++;
  if (starts[o->ranks[0][0] >> shift & 255] == length)
    return;
  for (i = 0; i < PERMC_DIGIT; i++) {
    uint64_t count = starts[i];
    starts[i] = sum;
    sum += count;
  }
  for (i = 0; i < length && alone; i++)
    o->ranks[1][starts[o->ranks[0][i] >> shift & 255]++] = o->ranks[0][i];
  for (i = 0; i < length && !alone; i++) {
    uint64_t to = starts[o->ranks[0][i] >> shift & 255]++;
    o->ranks[1][to] = o->ranks[0][i];
    o->index[1][to] = o->index[0][i];
  }
  {
    uint64_t *ranks = o->ranks[0];
    uint32_t *index = o->index[0];
    o->ranks[0] = o->ranks[1];
    o->index[0] = o->index[1];
    o->ranks[1] = ranks;
    o->index[1] = index;
  }
}

// Then o->index[0] has the index of the key that is first in the order, and so on; or (it returns
// 1) o->ranks[0] alone is in order, from which keys can be made: no other elements go with them.
static int permc_order_keys(const permc_routine *r, const char *keys, uint64_t length,
                            permc_order *o) {
  uint32_t bits = r->order.bits, shift;
  uint64_t i;
  int alone = r->kind == PERMC_SORT && r->pair_count - (uint32_t)r->counts == 1;
  for (i = 0; i < length; i++) {
    uint64_t key = permc_word(keys + i * r->key_bytes, r->key_bytes);
    o->ranks[0][i] = key_rank(&r->order, key);
    o->index[0][i] = (uint32_t)i;
    alone = alone && !key_is_nan(&r->order, key);
  }
  if (length <= PERMC_FEW)
    permc_insert(o, length);
  else
    for (shift = 0; shift < bits; shift += 8)
      permc_distribute(o, length, shift, alone);
  return alone;
}

static void permc_write_keys(const permc_routine *r, char *to, uint64_t length,
                             const uint64_t *ranks) {
  uint64_t i;
  for (i = 0; i < length; i++) {
    uint64_t key = key_decode(&r->order, ranks[i]);
    uint32_t four = (uint32_t)key;
    uint16_t two = (uint16_t)key;
    uint8_t one = (uint8_t)key;
    const void *from = r->key_bytes == 8   ? (const void *)&key
                       : r->key_bytes == 4 ? (const void *)&four
                       : r->key_bytes == 2 ? (const void *)&two
                                           : (const void *)&one;
    permc_move(to + i * r->key_bytes, (const char *)from, r->key_bytes);
  }
}

// Where row `number` of a routine is cut: by its offsets, if they are in order and inside.
static const int64_t *permc_cuts(const permc_routine *r, void *const *arrays, uint64_t number) {
  const int64_t *cuts = (const int64_t *)arrays[r->offsets] + number * r->offset_count;
  uint64_t i;
  for (i = 0; i + 1 < r->offset_count; i++)
    if ((uint64_t)cuts[i] > (uint64_t)cuts[i + 1])
      return NULL;
  return (uint64_t)cuts[r->offset_count - 1] <= r->length ? cuts : NULL;
}

// The order of elements first ... first + length - 1 of a row, written to pairs or places.
static void permc_sort_part(const permc_routine *r, void *const *arrays, uint64_t row,
                            uint64_t first, uint64_t length, char *memory) {
  uint64_t base = row * r->length, i;
  permc_order o = permc_order_at(memory, length);
  uint32_t k;
  if (length &&
      permc_order_keys(r, (const char *)arrays[r->pairs[0].from] + (base + first) * r->key_bytes,
                       length, &o)) {
    permc_write_keys(r, (char *)arrays[r->pairs[0].to] + (base + first) * r->key_bytes, length,
                     o.ranks[0]);
    return;
  }
  if (r->kind == PERMC_PLACES) {
    int64_t *places = (int64_t *)arrays[r->pairs[0].to] + base;
    for (i = 0; i < length; i++)
      places[first + o.index[0][i]] = (int64_t)(first + i);
    return;
  }
  for (k = 0; k < r->pair_count - (uint32_t)r->counts; k++) {
    permc_pair p = r->pairs[k];
    char *to = p.to == PERMC_NONE ? NULL : (char *)arrays[p.to] + (base + first) * p.bytes;
    const char *from =
        p.from == PERMC_NONE ? NULL : (const char *)arrays[p.from] + (base + first) * p.bytes;
    for (i = 0; to && i < length; i++) {
      uint64_t index = first + o.index[0][i];
      uint32_t narrow = (uint32_t)index;
      if (from)
        permc_move(to + i * p.bytes, from + (uint64_t)o.index[0][i] * p.bytes, p.bytes);
      else
        memcpy(to + i * p.bytes, p.bytes == 4 ? (const void *)&narrow : &index, p.bytes);
    }
  }
}

// What is in no row stays: each is a part of its own.
static void permc_sort_row(const permc_routine *r, void *const *arrays, uint64_t row,
                           char *memory) {
  const int64_t *cuts = r->offsets == PERMC_NONE ? NULL : permc_cuts(r, arrays, row);
  uint64_t i;
  if (r->offsets == PERMC_NONE) {
    permc_sort_part(r, arrays, row, 0, r->length, memory);
    return;
  }
  for (i = 0; i < (cuts ? (uint64_t)cuts[0] : r->length); i++)
    permc_sort_part(r, arrays, row, i, 1, memory);
  for (i = 0; cuts && i + 1 < r->offset_count; i++)
    permc_sort_part(r, arrays, row, (uint64_t)cuts[i], (uint64_t)(cuts[i + 1] - cuts[i]), memory);
  for (i = cuts ? (uint64_t)cuts[r->offset_count - 1] : r->length; i < r->length; i++)
    permc_sort_part(r, arrays, row, i, 1, memory);
}

static int64_t permc_integer(const permc_routine *r, const char *keys, uint64_t i) {
  uint64_t word = permc_word(keys + i * r->key_bytes, r->key_bytes);
  uint64_t sign = UINT64_C(1) << (8 * r->key_bytes - 1);
  return (int64_t)(r->is_signed ? (word ^ sign) - sign : word);
}

static void permc_count_keys(const permc_routine *r, void *const *arrays) {
  const permc_pair *p = &r->pairs[r->pair_count - 1];
  const char *keys = (const char *)arrays[p->from];
  int64_t *counts = (int64_t *)arrays[p->to];
  uint64_t row, i;
  memset(counts, 0, r->rows * r->limit * sizeof *counts);
  for (row = 0; row < r->rows; row++)
    for (i = 0; i < r->length; i++) {
      uint64_t key = (uint64_t)permc_integer(r, keys, row * r->length + i);
      if (key < r->limit)
        counts[row * r->limit + key]++;
    }
}

static void permc_permute(const permc_routine *r, void *const *arrays) {
  const char *keys = (const char *)arrays[r->pairs[0].from];
  uint32_t k;
  uint64_t i;
  for (k = 1; k < r->pair_count; k++) {
    permc_pair p = r->pairs[k];
    const char *from = (const char *)arrays[p.from];
    char *to = (char *)arrays[p.to];
    for (i = 0; i < r->length; i++) {
      uint64_t place = (uint64_t)permc_integer(r, keys, i);
      permc_move(to + (r->back ? i : place) * p.bytes, from + (r->back ? place : i) * p.bytes,
                 p.bytes);
    }
  }
}

// A bit for each place that was met, and one for each that was met again.
static void permc_find_wrong(const permc_routine *r, void *const *arrays, char *memory) {
  const char *places = (const char *)arrays[r->pairs[0].from];
  int64_t *found = (int64_t *)arrays[r->pairs[0].to];
  uint64_t words = r->distinct ? r->limit / 64 + 1 : 0, row, i;
  uint64_t *met = (uint64_t *)(void *)memory, *again = met + words;
  found[0] = INT64_MAX;
  found[1] = 0;
  for (row = 0; row < r->rows && found[0] == INT64_MAX; row++) {
    if (words)
      memset(met, 0, 2 * words * sizeof *met);
    for (i = 0; i < r->length && r->distinct; i++) {
      uint64_t place = (uint64_t)permc_integer(r, places, row * r->length + i);
      if (place >= r->limit)
        continue;
      again[place / 64] |= met[place / 64] & UINT64_C(1) << place % 64;
      met[place / 64] |= UINT64_C(1) << place % 64;
    }
    for (i = 0; i < r->length; i++) {
      uint64_t place = (uint64_t)permc_integer(r, places, row * r->length + i);
      if (place < r->limit && !(r->distinct && again[place / 64] >> place % 64 & 1))
        continue;
      found[0] = (int64_t)(row * r->length + i);
      found[1] = (int64_t)place;
      break;
    }
  }
}

// Elements of the two dimensions a and b, in squares, which are in caches whole.
static void permc_transpose_plane(const char *from, char *to, uint32_t bytes,
                                  const permc_dimension *a, const permc_dimension *b) {
  uint64_t i, k, x, y;
  for (i = 0; i < a->extent; i += PERMC_TILE)
    for (k = 0; k < b->extent; k += PERMC_TILE)
      for (x = i; x < a->extent && x < i + PERMC_TILE; x++)
        for (y = k; y < b->extent && y < k + PERMC_TILE; y++)
          permc_move(to + (x * a->to + y * b->to) * bytes,
                     from + (x * a->from + y * b->from) * bytes, bytes);
}

// The innermost dimensions before and after are the plane; the others are counted.
static void permc_transpose(const permc_routine *r, void *const *arrays) {
  const permc_dimension one = {1, 0, 0};
  const permc_dimension *d = r->dimensions, *a = &one, *b = &one;
  uint64_t at[8] = {0}, from = 0, to = 0;
  uint32_t i, n = r->dimension_count, bytes = r->pairs[0].bytes;
  for (i = 0; i < n; i++) {
    if (d[i].from == 1)
      b = &d[i];
    else if (d[i].to == 1)
      a = &d[i];
  }
  for (;;) {
    permc_transpose_plane((const char *)arrays[r->pairs[0].from] + from * bytes,
                          (char *)arrays[r->pairs[0].to] + to * bytes, bytes, a, b);
    for (i = 0; i < n; i++) {
      if (&d[i] == a || &d[i] == b)
        continue;
      from += d[i].from;
      to += d[i].to;
      if (++at[i] < d[i].extent)
        break;
      from -= d[i].extent * d[i].from;
      to -= d[i].extent * d[i].to;
      at[i] = 0;
    }
    if (i == n)
      return;
  }
}

static void permc_run_routine(const permc_routine *r, void *const *arrays, char *memory) {
  uint64_t row;
  if (r->counts || r->kind == PERMC_COUNT)
    permc_count_keys(r, arrays);
  if (r->kind == PERMC_SORT || r->kind == PERMC_PLACES)
    for (row = 0; row < r->rows; row++)
      permc_sort_row(r, arrays, row, memory);
  else if (r->kind == PERMC_PERMUTE)
    permc_permute(r, arrays);
  else if (r->kind == PERMC_WRONG)
    permc_find_wrong(r, arrays, memory);
  else if (r->kind == PERMC_TRANSPOSE)
    permc_transpose(r, arrays);
}
