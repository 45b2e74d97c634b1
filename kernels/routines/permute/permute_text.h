// The kernels of permutations. This text stands in generated files as it is here, behind
// kernels/text/cuda_host.h, permute_mix.h and these (kernels/routines/permute/permute.c):
//
//   permute_element   a type of 1, 2, 4, 8 or 16 bytes         PERMUTE_THREADS   of a block
//   permute_word      the same, but of 4 bytes at least        PERMUTE_TILE      elements; 0: none
//   PERMUTE_BLOCKS    at once on a multiprocessor, at least
//   PERMUTE_DIRECT    of d-designated and s-designated: elements of a thread
//   PERMUTE_WIDTH, PERMUTE_ROWS   of `scheduled`: the matrix; 0: none
//
// a, b: the array before and after; n elements. p: element i goes to place p[i]; q: it comes from
// there.

// ---- direct: HMM paper, section IV -------------------------------------------------------------

// A block has PERMUTE_DIRECT elements for each thread, which are under way at once.
PERMC_KERNEL(d_designated, 256, 1, 0, const permute_element *const a, permute_element *const b,
             const uint32_t *const p, const uint64_t n)
PERMC_THREADS(256)
uint32_t to[PERMUTE_DIRECT];
permute_element v[PERMUTE_DIRECT];
const uint64_t first = item * 256 * PERMUTE_DIRECT + t;
PERMC_UNROLL for (uint32_t permc_turn = 0; permc_turn < PERMUTE_DIRECT; permc_turn++) {
  const uint64_t i = first + 256 * permc_turn;
  if (i < n) {
    to[permc_turn] = PERMC_LOAD(uint32_t, p + i);
    v[permc_turn] = PERMC_LOAD(permute_element, a + i);
  }
}
PERMC_UNROLL for (uint32_t permc_turn = 0; permc_turn < PERMUTE_DIRECT; permc_turn++) {
  if (first + 256 * permc_turn < n)
    PERMC_STORE(permute_element, b + to[permc_turn], v[permc_turn]);
}
PERMC_END
PERMC_KERNEL_END

PERMC_KERNEL(s_designated, 256, 1, 0, const permute_element *const a, permute_element *const b,
             const uint32_t *const q, const uint64_t n)
PERMC_THREADS(256)
uint32_t from[PERMUTE_DIRECT];
permute_element v[PERMUTE_DIRECT];
const uint64_t first = item * 256 * PERMUTE_DIRECT + t;
PERMC_UNROLL for (uint32_t permc_turn = 0; permc_turn < PERMUTE_DIRECT; permc_turn++) {
  if (first + 256 * permc_turn < n)
    from[permc_turn] = PERMC_LOAD(uint32_t, q + first + 256 * permc_turn);
}
PERMC_UNROLL for (uint32_t permc_turn = 0; permc_turn < PERMUTE_DIRECT; permc_turn++) {
  if (first + 256 * permc_turn < n)
    v[permc_turn] = PERMC_LOAD(permute_element, a + from[permc_turn]);
}
PERMC_UNROLL for (uint32_t permc_turn = 0; permc_turn < PERMUTE_DIRECT; permc_turn++) {
  if (first + 256 * permc_turn < n)
    PERMC_STORE(permute_element, b + first + 256 * permc_turn, v[permc_turn]);
}
PERMC_END
PERMC_KERNEL_END

// ---- scheduled: HMM paper, sections V to VII ---------------------------------------------------

// A row of `length`: b[d[j]] = a[s[j]], through one array in scratch, which is first alpha of the
// paper and then beta. Neither has bank conflicts: s and d are of 32 banks each for every 32
// numbers.
#define PERMUTE_ROW_WISE(name, length, threads)                                                    \
  PERMC_KERNEL(name, threads, 1, (length) * sizeof(permute_element),                               \
               const permute_element *const a, permute_element *const b, const uint16_t *const s,  \
               const uint16_t *const d)                                                            \
  const uint64_t base = item * (length);                                                           \
  permute_element *const row = (permute_element *)scratch;                                         \
  PERMC_VALUES(permute_element, kept, (length) / (threads), threads)                               \
  PERMC_THREADS(threads)                                                                           \
  PERMC_UNROLL for (uint32_t permc_turn = 0; permc_turn < (length) / (threads); permc_turn++) {    \
    const uint32_t j = permc_turn * (threads) + t;                                                 \
    const permute_element v = PERMC_LOAD(permute_element, a + base + j);                           \
    PERMC_PUT(permute_element, row + j, v);                                                        \
  }                                                                                                \
  PERMC_END                                                                                        \
  PERMC_BARRIER                                                                                    \
  PERMC_THREADS(threads)                                                                           \
  PERMC_UNROLL for (uint32_t permc_turn = 0; permc_turn < (length) / (threads); permc_turn++) {    \
    const uint16_t from = PERMC_LOAD(uint16_t, s + base + permc_turn * (threads) + t);             \
    PERMC_AT(kept, permc_turn) = PERMC_GET(permute_element, row + from);                           \
  }                                                                                                \
  PERMC_END                                                                                        \
  PERMC_BARRIER                                                                                    \
  PERMC_THREADS(threads)                                                                           \
  PERMC_UNROLL for (uint32_t permc_turn = 0; permc_turn < (length) / (threads); permc_turn++) {    \
    const uint16_t to = PERMC_LOAD(uint16_t, d + base + permc_turn * (threads) + t);               \
    PERMC_PUT(permute_element, row + to, PERMC_AT(kept, permc_turn));                              \
  }                                                                                                \
  PERMC_END                                                                                        \
  PERMC_BARRIER                                                                                    \
  PERMC_THREADS(threads)                                                                           \
  PERMC_UNROLL for (uint32_t permc_turn = 0; permc_turn < (length) / (threads); permc_turn++) {    \
    const uint32_t j = permc_turn * (threads) + t;                                                 \
    const permute_element v = PERMC_GET(permute_element, row + j);                                 \
    PERMC_STORE(permute_element, b + base + j, v);                                                 \
  }                                                                                                \
  PERMC_END                                                                                        \
  PERMC_KERNEL_END

// A matrix of so many rows, by tiles of 32 x 32 in the diagonal arrangement: element (i, j) of a
// tile lies at 32 i + (i + j) mod 32, so that neither a row nor a column has bank conflicts.
#define PERMUTE_TRANSPOSE(name, rows, columns)                                                     \
  PERMC_KERNEL(name, 256, 1, 1024 * sizeof(permute_element), const permute_element *const a,       \
               permute_element *const b)                                                           \
  const uint64_t row = item / ((columns) / 32) * 32, column = item % ((columns) / 32) * 32;        \
  permute_element *const tile = (permute_element *)scratch;                                        \
  PERMC_THREADS(256)                                                                               \
  PERMC_UNROLL for (uint32_t permc_turn = 0; permc_turn < 4; permc_turn++) {                       \
    const uint32_t i = permc_turn * 8 + t / 32, j = t % 32;                                        \
    const permute_element v = PERMC_LOAD(permute_element, a + (row + i) * (columns) + column + j); \
    PERMC_PUT(permute_element, tile + 32 * i + (i + j) % 32, v);                                   \
  }                                                                                                \
  PERMC_END                                                                                        \
  PERMC_BARRIER                                                                                    \
  PERMC_THREADS(256)                                                                               \
  PERMC_UNROLL for (uint32_t permc_turn = 0; permc_turn < 4; permc_turn++) {                       \
    const uint32_t i = permc_turn * 8 + t / 32, j = t % 32;                                        \
    const permute_element v = PERMC_GET(permute_element, tile + 32 * j + (i + j) % 32);            \
    PERMC_STORE(permute_element, b + (column + i) * (rows) + row + j, v);                          \
  }                                                                                                \
  PERMC_END                                                                                        \
  PERMC_KERNEL_END

#if PERMUTE_WIDTH
#define PERMUTE_THREADS_OF(length) ((length) < 1024 ? (length) : 1024)
PERMUTE_ROW_WISE(rows, PERMUTE_WIDTH, PERMUTE_THREADS_OF(PERMUTE_WIDTH))
PERMUTE_ROW_WISE(columns, PERMUTE_ROWS, PERMUTE_THREADS_OF(PERMUTE_ROWS))
PERMUTE_TRANSPOSE(transpose, PERMUTE_ROWS, PERMUTE_WIDTH)
PERMUTE_TRANSPOSE(transpose_back, PERMUTE_WIDTH, PERMUTE_ROWS)
#endif

// ---- tiled -------------------------------------------------------------------------------------

#if PERMUTE_TILE

enum {
  PERMUTE_WIDE = 16 / sizeof(permute_element),    // elements in 16 bytes
  PERMUTE_WORDS = 16 / sizeof(permute_word),      // words in 16 bytes
  PERMUTE_EACH = PERMUTE_TILE / PERMUTE_THREADS,  // elements of a thread
  PERMUTE_EIGHT = 8,                              // places in 16 bytes
  PERMUTE_STEP = PERMUTE_WIDE > PERMUTE_EIGHT ? PERMUTE_WIDE : PERMUTE_EIGHT
};

#ifdef PERMC_HOST
#define PERMUTE_GET_WORDS(w, p)                                                                    \
  PERMC_TOUCH(PERMC_GETS, p, 16);                                                                  \
  __builtin_memcpy(w, p, 16);
#else
#define PERMUTE_GET_WORDS(w, p)                                                                    \
  const uint4 line_of_four = *(const uint4 *)(p);                                                  \
  memcpy(w, &line_of_four, 16);
#endif

static inline uint32_t permute_at(uint32_t i) {
  const uint32_t at = i * (uint32_t)sizeof(permute_element);
  return (at ^ permute_mix(at / 128, 8 * PERMUTE_WORDS) * (uint32_t)sizeof(permute_word)) /
         (uint32_t)sizeof(permute_element);
}

#define PERMUTE_OF_PAIRS(pairs, k) ((pairs)[(k) / 2] >> 16 * ((k) % 2) & 0xffff)

// The tile in scratch, to memory by 16 bytes.
#define PERMUTE_STORE_TILE                                                                         \
  PERMC_THREADS(PERMUTE_THREADS)                                                                   \
  PERMC_UNROLL for (uint32_t permc_turn = 0; permc_turn < PERMUTE_EACH / PERMUTE_WIDE;             \
                    permc_turn++) {                                                                \
    const uint32_t line = permc_turn * PERMUTE_THREADS + t, i = line * PERMUTE_WIDE;               \
    const uint32_t d = permute_mix(line / 8, 8 * PERMUTE_WORDS);                                   \
    if (i + PERMUTE_WIDE <= count) {                                                               \
      permute_word w[PERMUTE_WORDS];                                                               \
      PERMUTE_GET_WORDS(w, scratch + 16 * (line ^ d / PERMUTE_WORDS))                              \
      PERMC_XOR_PERMUTE(permute_word, PERMUTE_WORDS, w, d % PERMUTE_WORDS)                         \
      PERMC_STORE_ALL(permute_word, PERMUTE_WORDS, w, b + base + i)                                \
    } else {                                                                                       \
      for (uint32_t k = i; k < count; k++)                                                         \
        b[base + k] = ((permute_element *)scratch)[permute_at(k)];                                 \
    }                                                                                              \
  }                                                                                                \
  PERMC_END

// Element i of each tile of `a` goes to place put[i] of the tile: so elements that go to one tile
// of the result are neighbours.
PERMC_KERNEL(put, PERMUTE_THREADS, PERMUTE_BLOCKS, PERMUTE_TILE * sizeof(permute_element),
             const permute_element *const a, permute_element *const b, const uint16_t *const put,
             const uint64_t n)
const uint64_t base = item * PERMUTE_TILE;
const uint32_t count = n - base < PERMUTE_TILE ? (uint32_t)(n - base) : PERMUTE_TILE;
PERMC_THREADS(PERMUTE_THREADS)
PERMC_UNROLL for (uint32_t first = 0; first < PERMUTE_EACH; first += PERMUTE_STEP) {
  uint32_t pairs[PERMUTE_STEP / 2];  // of places
  PERMC_UNROLL for (uint32_t k = 0; k < PERMUTE_STEP; k += PERMUTE_EIGHT) {
    const uint32_t permc_turn = (first + k) / PERMUTE_EIGHT;
    PERMC_LOAD_WIDE(uint32_t, 4, four, put + base + first * PERMUTE_THREADS + t * PERMUTE_STEP + k)
    PERMC_UNROLL for (uint32_t c = 0; c < 4; c++) pairs[k / 2 + c] = four[c];
    (void)permc_turn;
  }
  PERMC_UNROLL for (uint32_t k = 0; k < PERMUTE_STEP; k += PERMUTE_WIDE) {
    const uint32_t i =
        first * PERMUTE_THREADS + t / 32 * 32 * PERMUTE_STEP + k * 32 + t % 32 * PERMUTE_WIDE;
    if (i + PERMUTE_WIDE <= count) {
      const uint32_t permc_turn = (first + k) / PERMUTE_WIDE;
      PERMC_LOAD_WIDE(permute_element, PERMUTE_WIDE, e, a + base + i)
      (void)permc_turn;
      PERMC_UNROLL for (uint32_t c = 0; c < PERMUTE_WIDE; c++) {
        const uint32_t permc_turn = first + k + c;
        PERMC_PUT(permute_element, (permute_element *)scratch + PERMUTE_OF_PAIRS(pairs, k + c),
                  e[c]);
        (void)permc_turn;
      }
    } else {
      PERMC_UNROLL for (uint32_t c = 0; c < PERMUTE_WIDE; c++) if (i + c < count)(
          (permute_element *)scratch)[PERMUTE_OF_PAIRS(pairs, k + c)] = a[base + i + c];
    }
  }
}
PERMC_END
PERMC_BARRIER
PERMUTE_STORE_TILE
PERMC_KERNEL_END

// A tile of the result: its element collect[j] is the j-th of those that stand in its segments of
// `a`. groups[j / 32]: which of 32 such numbers begin a segment, and how many begin before them
// (the upper half); element j of segment k lies at segments[k] + j.
PERMC_KERNEL(collect, PERMUTE_THREADS, PERMUTE_BLOCKS, PERMUTE_TILE * sizeof(permute_element),
             const permute_element *const a, permute_element *const b,
             const uint16_t *const collect, const uint64_t *const groups,
             const uint32_t *const segments, const uint64_t most_segments, const uint64_t n)
const uint64_t base = item * PERMUTE_TILE;
const uint32_t count = n - base < PERMUTE_TILE ? (uint32_t)(n - base) : PERMUTE_TILE;
PERMC_THREADS(PERMUTE_THREADS)
const uint32_t up_to = UINT32_MAX >> (31 - t % 32);
PERMC_UNROLL for (uint32_t first = 0; first < PERMUTE_EACH; first += PERMUTE_EIGHT) {
  const uint32_t j = first * PERMUTE_THREADS + t / 32 * 256 + t % 32;
  uint32_t from[PERMUTE_EIGHT];
  permute_element e[PERMUTE_EIGHT];
  PERMC_UNROLL for (uint32_t k = 0; k < PERMUTE_EIGHT; k++) {
    const uint32_t permc_turn = first + k;
    if (j + 32 * k < count) {
      const uint64_t group = PERMC_LOAD(uint64_t, groups + base / 32 + j / 32 + k);
      const uint32_t number =
          (uint32_t)(group >> 32) + (uint32_t)__builtin_popcountll((uint32_t)group & up_to) - 1;
      from[k] = PERMC_LOAD(uint32_t, segments + item * most_segments + number) + j + 32 * k;
    }
    (void)permc_turn;
  }
  const uint32_t permc_turn = first;
  PERMC_LOAD_WIDE(uint32_t, PERMUTE_EIGHT / 2, to,
                  collect + base + j - t % 32 + t % 32 * PERMUTE_EIGHT)
  (void)permc_turn;
  PERMC_UNROLL for (uint32_t k = 0; k < PERMUTE_EIGHT; k++) {
    const uint32_t permc_turn = first + k;
    if (j + 32 * k < count)
      e[k] = PERMC_LOAD(permute_element, a + from[k]);
    (void)permc_turn;
  }
  PERMC_UNROLL for (uint32_t k = 0; k < PERMUTE_EIGHT; k++) {
    const uint32_t permc_turn = first + k;
    if (j + 32 * k < count)
      PERMC_PUT(permute_element, (permute_element *)scratch + PERMUTE_OF_PAIRS(to, k), e[k]);
    (void)permc_turn;
  }
}
PERMC_END
PERMC_BARRIER
PERMUTE_STORE_TILE
PERMC_KERNEL_END

#endif
