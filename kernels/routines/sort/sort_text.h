// The kernels of a stable sort by digits of 8 bits, the lowest first, with one read and one write
// of memory a digit ("onesweep": Adinets and Merrill, 2022). This text stands in generated files as
// it is here, behind kernels/text/tile.h, kernels/routines/sort/digit_text.h and these
// (kernels/routines/sort/sort.c):
//
//   SORT_KEY       an unsigned type of a key's bytes       TILE_THREADS, TILE_ITEMS   keys of a tile
//   TILE_COUNT     a type for numbers of keys, of 4 or 8   SORT_BLOCKS   at once on a multiprocessor
//   SORT_PAYLOAD   a type of a payload's bytes, or not     SORT_DIGITS   of a key
//   SORT_COPIES    of counters                             SORT_WORD     an unsigned type, see below
//   SORT_JOINED    or not: payloads are as wide as keys, and words twice as wide
//
//   SORT_TOP       the bit of the sign, or 0               SORT_WAY(w)   w, or where keys descend ~w
//   SORT_FLOATS    or not; then SORT_NAN is how many NaN have a sign
//
// Rows of `length` keys are sorted one by one. A row is cut into tiles, one for each block. What a
// block has to know is where the keys of each digit go:
//
//   all keys of the row with a smaller digit     counts, made by the first kernel
//   those of the digit in tiles before           states: blocks publish theirs, and look back
//   those of the digit in warps before           counters of the warps, summed
//   those of the digit before in the warp        votes of the warp
//
// The tile is put into this order in scratch memory first, so that what goes to one place of memory
// is stored by neighbours.
//
// STATE, an array:
//
//   counts    [row][digit's number][digit]    how many keys have it; 0 before the first run, and after each
//   tickets   [digit's number]                how many tiles have been taken
//   states    [digit's number % 2][row, tile][digit]
#ifndef PERMC_KERNELS_ROUTINES_SORT_SORT_TEXT_H
#define PERMC_KERNELS_ROUTINES_SORT_SORT_TEXT_H

#define SORT_LOOK 8  // states that are asked for at once
// In scratch, of a tile: what lies behind is aligned, whatever its elements are.
#define SORT_STAGED ((SORT_SPREAD(TILE_ELEMENTS) + 7) / 8 * 8)
#define SORT_TICKETS(state) ((state) + rows * SORT_DIGITS * 256)
#define SORT_STATES(state, digit)                                                                  \
  (SORT_TICKETS(state) + SORT_DIGITS + (digit) % 2 * rows * TILES_OF(length) * 256)

// Keys are sorted as words, unsigned numbers that have their order. The first digit's pass makes
// them, the last one makes keys of them again. Words that are JOINED have the payload in their
// lower half: it moves with its key as one element, in runs of twice as many bytes.
//
// Of floats the negative ones are complemented, and all are turned round so that NaN with a sign
// come behind those without. NaN are equal, and keep their bits: sort_number, by which they are
// compared, is the last one's word for all of them.
#define SORT_LAST ((SORT_WORD) ~(SORT_WORD)0)  // none has larger digits
#ifdef SORT_JOINED
#define SORT_TURNS true
#define SORT_KEY_OF(word) ((SORT_KEY)((word) >> 8 * sizeof(SORT_KEY)))
#define SORT_JOIN(key, payload) ((SORT_WORD)((SORT_WORD)(key) << 8 * sizeof(SORT_KEY) | (payload)))
#else
#define SORT_TURNS (SORT_TOP != 0 || SORT_WAY(0) != 0)  // words are not just the keys
#define SORT_KEY_OF(word) (word)
#define SORT_JOIN(key, payload) (key)
#ifdef SORT_PAYLOAD
#define SORT_APART  // payloads follow their keys
#endif
#endif
#ifdef SORT_FLOATS
#define SORT_NAN_DIGIT (SORT_WAY((SORT_KEY)SORT_LAST) & 255)  // all digits of this word
static inline SORT_KEY sort_word(SORT_KEY k) {
  return SORT_WAY((k & SORT_TOP ? (SORT_KEY)~k : k | SORT_TOP) - SORT_NAN);
}
static inline SORT_KEY sort_key(SORT_KEY w) {
  w = (SORT_KEY)(SORT_WAY(w) + SORT_NAN);
  return (SORT_KEY)(w & SORT_TOP ? w ^ SORT_TOP : ~w);
}
static inline SORT_KEY sort_number(SORT_KEY w) {
  return SORT_WAY(w) > (SORT_KEY)SORT_LAST - 2 * SORT_NAN ? SORT_WAY((SORT_KEY)SORT_LAST) : w;
}
#else
static inline SORT_KEY sort_word(SORT_KEY k) { return SORT_WAY(k ^ SORT_TOP); }
static inline SORT_KEY sort_key(SORT_KEY w) { return (SORT_KEY)(SORT_WAY(w) ^ SORT_TOP); }
static inline SORT_KEY sort_number(SORT_KEY w) { return w; }
#endif

// A state: how many keys of a digit are in a tile, or in the row up to the tile's end. 0: not known
// yet.
#define SORT_OF_TILE ((TILE_COUNT)1 << (8 * sizeof(TILE_COUNT) - 2))
#define SORT_OF_ROW ((TILE_COUNT)2 << (8 * sizeof(TILE_COUNT) - 2))
#define SORT_VALUE(state) ((state) & (SORT_OF_TILE - 1))

#ifdef PERMC_HOST
#define SORT_NEAR(p) (p)
#else
template <typename T> T *sort_near(T *p) {
  asm("" : "+l"(p));
  return p;
}
#define SORT_NEAR(p) sort_near(p)  // an address that others are constants from
#endif
// In scratch: neighbours stay so, and places 32 apart are in different banks.
#define SORT_SPREAD(place) ((place) + ((place) >> 5))
// The places of keys in their tile, two of 16 bits in a register.
#define SORT_GET_PLACE(i) (PERMC_AT(places, (i) / 2) >> 16 * ((i) % 2) & 65535)
#ifdef SORT_APART
#define SORT_KEEP_PLACE(i, n)                                                                      \
  (PERMC_AT(places, (i) / 2) = (i) % 2 ? PERMC_AT(places, (i) / 2) + ((n) << 16) : (n))
#else
#define SORT_KEEP_PLACE(i, n)
#endif

// A thread's own element of an array; all words of a tile; payloads, which may be the keys'
// numbers.
#define SORT_OWN(type, array)                                                                      \
  PERMC_LOAD(type, SORT_NEAR((const type *)(array) + (start + TILE_PLACE)) + 32 * i)
#define SORT_LOAD_WORDS(...)                                                                       \
  if (live != TILE_ELEMENTS) {                                                                     \
    TILE_EACH_ITEM PERMC_AT(word, i) = SORT_LAST;                                                  \
    TILE_END                                                                                       \
  }                                                                                                \
  TILE_EACH_LIVE(TILE_IS_LIVE(i), PERMC_AT(word, i) = __VA_ARGS__)
#define SORT_LOAD_PAYLOADS                                                                         \
  if (payload_from) {                                                                              \
    TILE_EACH_LIVE(TILE_IS_LIVE(i), PERMC_AT(payload, i) = SORT_OWN(SORT_PAYLOAD, payload_from))   \
  } else {                                                                                         \
    TILE_EACH_ITEM                                                                                 \
    PERMC_AT(payload, i) = (SORT_PAYLOAD)((uint64_t)tile * TILE_ELEMENTS + TILE_PLACE + 32 * i);   \
    TILE_END                                                                                       \
  }
// In the order of the tile: at the targets.
#define SORT_STORE_ALL(type, array, value)                                                         \
  TILE_EACH_LIVE(TILE_THREADS *i + t < live,                                                       \
                 PERMC_STORE(type,                                                                 \
                             SORT_AT((type *)(array) + t, PERMC_AT(target, i)) + TILE_THREADS * i, \
                             value))

// For keys of a tile and their digits. Words are compared by their bits, unless there may be NaN.
#ifdef SORT_FLOATS
#define SORT_EACH_DIGIT(...)                                                                       \
  if (odd) {                                                                                       \
    TILE_EACH_ITEM                                                                                 \
    const uint32_t digit = sort_digit(sort_number(SORT_KEY_OF(PERMC_AT(word, i))), digit_number);  \
    __VA_ARGS__                                                                                    \
    TILE_END                                                                                       \
  } else {                                                                                         \
    TILE_EACH_ITEM                                                                                 \
    const uint32_t digit = sort_digit(SORT_KEY_OF(PERMC_AT(word, i)), digit_number);               \
    __VA_ARGS__                                                                                    \
    TILE_END                                                                                       \
  }
#else
#define SORT_EACH_DIGIT(...)                                                                       \
  TILE_EACH_ITEM                                                                                   \
  const uint32_t digit = sort_digit(SORT_KEY_OF(PERMC_AT(word, i)), digit_number);                 \
  __VA_ARGS__                                                                                      \
  TILE_END
#endif

#ifdef PERMC_HOST
#define SORT_AT(all, offset) ((all) + (offset))
#define SORT_COUNTER(digit) (counters + t / 32 * 256 + (digit))

static inline TILE_COUNT sort_look(const TILE_COUNT *state) { return *state; }

static inline void sort_publish(TILE_COUNT *state, TILE_COUNT value) { *state = value; }
#else
// Else compilers extend the sign by itself.
template <typename T> T *sort_at(T *all, int64_t offset) { return all + offset; }
template <typename T> T *sort_at(T *all, int32_t offset) {
  T *at;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(at) : "r"(offset), "n"((int)sizeof(T)), "l"(all));
  return at;
}
#define SORT_AT(all, offset) sort_at(all, offset)
#define SORT_COUNTER(digit)                                                                        \
  ((uint32_t *)((char *)(counters + t / 32 * 256) + (digit) * (4 * blockDim.y)))

static inline TILE_COUNT sort_look(const TILE_COUNT *state) {
  TILE_COUNT value;
  if (sizeof value == 4)
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                 : "=r"(*(uint32_t *)&value)
                 : "l"(state)
                 : "memory");
  else
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(*(uint64_t *)&value)
                 : "l"(state)
                 : "memory");
  return value;
}

static inline void sort_publish(TILE_COUNT *state, TILE_COUNT value) {
  if (sizeof value == 4)
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(state), "r"((uint32_t)value)
                 : "memory");
  else
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(state), "l"((uint64_t)value)
                 : "memory");
}
#endif

// Of at most 8 sums the first ones.
static inline TILE_COUNT sort_sum(const TILE_COUNT *sums, uint32_t count) {
  TILE_COUNT sum = 0;
  PERMC_UNROLL for (uint32_t i = 0; i < 8; i++) sum += i < count ? sums[i] : 0;
  return sum;
}

// The keys of a digit in all tiles of the row before `tile`. SORT_LOOK of them are asked for at
// once, the nearest first; one that has no state yet is asked for again.
static inline TILE_COUNT sort_look_back(const TILE_COUNT *states, uint32_t tile, uint32_t digit) {
  TILE_COUNT sum = 0;
  for (;;) {
    TILE_COUNT state[SORT_LOOK];
    PERMC_UNROLL for (uint32_t k = 0; k < SORT_LOOK; k++) state[k] =
        k < tile ? sort_look(states + ((uint64_t)(tile - 1 - k) * 256 + digit)) : 0;
    uint32_t known = 0;
    PERMC_UNROLL for (uint32_t k = 0; k < SORT_LOOK; k++) if (known == k && state[k] != 0) {
      sum += SORT_VALUE(state[k]);
      if (state[k] & SORT_OF_ROW)
        return sum;
      known = k + 1;
    }
    tile -= known;
  }
}

// clang-format off: what macros begin and end is indented below as blocks are
// ---- the first kernel: how often each digit occurs in each row -----------------------------------

// A block counts `chunk` keys, into copies of the counters, which lanes share: fewer meet at a
// bank. The states of the first digit become 0, and tickets.
PERMC_KERNEL(count, TILE_THREADS, SORT_BLOCKS, SORT_COPIES *SORT_DIGITS * 1024,
             const SORT_KEY *const keys, TILE_COUNT *const state, const uint64_t rows,
             const uint64_t length, const uint64_t chunk)
TILE_BEGIN
const uint64_t chunks = (length + chunk - 1) / chunk, row = item / chunks;
const uint64_t from = item % chunks * chunk;
const uint64_t end = length - from < chunk ? length : from + chunk;
uint32_t *const own = (uint32_t *)scratch;
TILE_COUNT *const states = SORT_STATES(state, 0);
TILE_EACH_THREAD
for (uint32_t i = t; i < SORT_COPIES * 256 * SORT_DIGITS; i += TILE_THREADS)
  own[i] = 0;
for (uint64_t i = item * TILE_THREADS + t; i < rows * TILES_OF(length) * 256;
     i += rows * chunks * TILE_THREADS)
  states[i] = 0;
if (item == 0 && t < SORT_DIGITS)
  SORT_TICKETS(state)[t] = 0;
TILE_END
PERMC_BARRIER
for (uint64_t tile = from; tile < end; tile += TILE_ELEMENTS) {
  PERMC_AGAIN
  const uint32_t live = end - tile < TILE_ELEMENTS ? (uint32_t)(end - tile) : TILE_ELEMENTS;
  PERMC_VALUES(SORT_KEY, key, TILE_ITEMS, TILE_THREADS)
  TILE_EACH_ITEM
  if (TILE_IS_LIVE(i))
    PERMC_AT(key, i) =
        PERMC_LOAD(SORT_KEY, SORT_NEAR(keys + (row * length + tile + TILE_PLACE)) + 32 * i);
  TILE_END
  TILE_EACH_ITEM
  const SORT_KEY word = sort_number(sort_word(PERMC_AT(key, i)));
  if (TILE_IS_LIVE(i))
    PERMC_UNROLL for (uint32_t d = 0; d < SORT_DIGITS; d++)(void)
        TILE_ADD(own + ((256 * d + sort_digit(word, d)) * SORT_COPIES + t % SORT_COPIES), 1);
  TILE_END
}
PERMC_BARRIER
TILE_EACH_THREAD
for (uint32_t i = t; i < 256 * SORT_DIGITS; i += TILE_THREADS) {
  uint32_t sum = 0;
  PERMC_UNROLL for (uint32_t c = 0; c < SORT_COPIES; c++)  // lanes read from different banks
      sum += own[i * SORT_COPIES + (c + i * SORT_COPIES / 32) % SORT_COPIES];
  if (sum)
    (void)TILE_ADD(state + (row * 256 * SORT_DIGITS + i), sum);
}
TILE_END
PERMC_KERNEL_END

// ---- the second: one digit ---------------------------------------------------------------------

// Blocks take tiles in turn, so that those before have been taken when they are waited for. The
// states of the next digit become 0; with the last digit all counts do.
PERMC_KERNEL(digit, TILE_THREADS, SORT_BLOCKS, TILE_ELEMENTS, const void *const from,
             void *const to,
#ifdef SORT_PAYLOAD
             const SORT_PAYLOAD *const payload_from, SORT_PAYLOAD *const payload_to,
#endif
             TILE_COUNT *const state, const uint64_t rows, const uint64_t length,
             const uint64_t number)
TILE_BEGIN(void) item;
const uint32_t tiles = TILES_OF(length);
TILE_COUNT *const counts = state, *const tickets = SORT_TICKETS(state);
TILE_COUNT *const states = SORT_STATES(state, number);
TILE_COUNT *const next_states = SORT_STATES(state, number + 1);
SORT_WORD *const staged = (SORT_WORD *)scratch;
#ifdef SORT_PAYLOAD
PERMC_VALUES(SORT_PAYLOAD, payload, TILE_ITEMS, TILE_THREADS)
#endif
#ifdef SORT_APART
SORT_PAYLOAD *const staged_payload = (SORT_PAYLOAD *)(staged + SORT_STAGED);
uint32_t *const counters = (uint32_t *)(staged_payload + SORT_STAGED);  // [warp][digit]
PERMC_VALUES(uint32_t, places, (TILE_ITEMS + 1) / 2, TILE_THREADS)
#else
uint32_t *const counters = (uint32_t *)(staged + SORT_STAGED);
#endif
// By digit, the place in memory less that in the tile; sums over 32 digits; the turn of this block,
// and the digit's number.
TILE_COUNT *const bases = (TILE_COUNT *)(counters + TILE_WARPS * 256);
TILE_COUNT *const sums = bases + 256, *const taken = sums + 8;
PERMC_VALUES(SORT_WORD, word, TILE_ITEMS, TILE_THREADS)
PERMC_VALUES(SORT_OFFSET, target, TILE_ITEMS, TILE_THREADS)
PERMC_VALUES(uint32_t, count, 1, TILE_THREADS)   // of the digit t in the tile
PERMC_VALUES(uint32_t, lowest, 1, TILE_THREADS)  // its place in the sorted tile

TILE_EACH_THREAD
if (t == 0) {
  taken[0] = TILE_ADD(tickets + number, 1);
  taken[1] = (TILE_COUNT)number;
}
PERMC_UNROLL for (uint32_t k = 0; k < 256; k += 32) counters[t / 32 * 256 + t % 32 + k] = 0;
TILE_END
PERMC_BARRIER
const uint32_t turn = (uint32_t)taken[0], tile = turn % tiles;
const uint64_t row = turn / tiles, start = row * length + (uint64_t)tile * TILE_ELEMENTS;
const uint64_t left = (row + 1) * length - start;
const uint32_t live = left < TILE_ELEMENTS ? (uint32_t)left : TILE_ELEMENTS;
TILE_COUNT *const own_states = states + row * tiles * 256;
uint32_t digit_number = (uint32_t)number;
if (SORT_TURNS && number == 0) {
  SORT_LOAD_WORDS(SORT_JOIN(sort_word(SORT_OWN(SORT_KEY, from)), 0))
#ifdef SORT_JOINED
  SORT_LOAD_PAYLOADS
  TILE_EACH_ITEM
  PERMC_AT(word, i) |= PERMC_AT(payload, i);
  TILE_END
#endif
} else {
  SORT_LOAD_WORDS(SORT_OWN(SORT_WORD, from))
}
#ifdef SORT_FLOATS  // the last digit is one for all NaN, but of two bytes
const bool odd = number == SORT_DIGITS - 1
                     ? sizeof(SORT_KEY) == 2
                     : counts[(row * SORT_DIGITS + SORT_DIGITS - 1) * 256 + SORT_NAN_DIGIT] != 0;
#endif
SORT_EACH_DIGIT((void)TILE_ADD(SORT_COUNTER(digit), 1);)
PERMC_BARRIER

// How many keys of the tile have a digit. Counts of warps become the places of their first keys.
TILE_EACH_THREAD
if (t < 256) {
  uint32_t sum = 0;
  PERMC_UNROLL for (uint32_t w = 0; w < TILE_WARPS; w++) sum += counters[256 * w + t];
  if (tile != 0)
    sort_publish(own_states + ((uint64_t)tile * 256 + t), sum | SORT_OF_TILE);
  next_states[(uint64_t)turn * 256 + t] = 0;
  PERMC_AT(count, 0) = sum;
  PERMC_AT(lowest, 0) = (uint32_t)tile_before(sum, t);
  if (t % 32 == 31)
    sums[t / 32] = PERMC_AT(lowest, 0) + sum;
}
TILE_END
PERMC_BARRIER
TILE_EACH_THREAD
if (t < 256) {
  uint32_t first = PERMC_AT(lowest, 0) += (uint32_t)sort_sum(sums, t / 32);
  PERMC_UNROLL for (uint32_t w = 0; w < TILE_WARPS; w++) {
    const uint32_t old = counters[256 * w + t];
    counters[256 * w + t] = first;
    first += old;
  }
}
TILE_END
PERMC_BARRIER

// Each key goes to its place in the tile.
digit_number = (uint32_t)taken[1];  // from there, else compilers keep all digits in registers
SORT_EACH_DIGIT({
  const uint32_t before = sort_rank(SORT_COUNTER(digit), digit, t), place = SORT_SPREAD(before);
  PERMC_PUT(SORT_WORD, staged + place, PERMC_AT(word, i));
  SORT_KEEP_PLACE(i, place);
})
#ifdef SORT_APART
SORT_LOAD_PAYLOADS
#endif

// The first tile of a row sums the counts of the digits; the others ask those before them.
if (tile == 0) {
  TILE_EACH_THREAD
  if (t < 256) {
    const TILE_COUNT all = counts[(row * SORT_DIGITS + number) * 256 + t];
    bases[t] = tile_before(all, t);
    if (t % 32 == 31)
      sums[t / 32] = bases[t] + all;
  }
  TILE_END
  PERMC_BARRIER
}
TILE_EACH_THREAD
if (t < 256) {
  TILE_COUNT before = 0;
  if (tile == 0)
    before = bases[t] + sort_sum(sums, t / 32);
  else
    before = sort_look_back(own_states, tile, t);
  sort_publish(own_states + ((uint64_t)tile * 256 + t),
               (before + PERMC_AT(count, 0)) | SORT_OF_ROW);
  bases[t] = (TILE_COUNT)(row * length) + before - PERMC_AT(lowest, 0);
}
if (tile == 0 && number == SORT_DIGITS - 1)
  for (uint32_t i = t; i < 256 * SORT_DIGITS; i += TILE_THREADS)
    counts[row * SORT_DIGITS * 256 + i] = 0;
TILE_END
#ifdef SORT_APART
TILE_EACH_ITEM
PERMC_PUT(SORT_PAYLOAD, staged_payload + SORT_GET_PLACE(i), PERMC_AT(payload, i));
TILE_END
#endif
PERMC_BARRIER

// In the order of the tile, one after the other.
TILE_EACH_ITEM
PERMC_AT(word, i) = PERMC_GET(SORT_WORD, staged + (SORT_SPREAD(TILE_THREADS) * i + SORT_SPREAD(t)));
TILE_END
SORT_EACH_DIGIT(PERMC_AT(target, i) = (SORT_OFFSET)bases[digit];)
if (SORT_TURNS && number == SORT_DIGITS - 1) {
  if (to)
    SORT_STORE_ALL(SORT_KEY, to, sort_key(SORT_KEY_OF(PERMC_AT(word, i))))
#ifdef SORT_JOINED
  SORT_STORE_ALL(SORT_PAYLOAD, payload_to, (SORT_PAYLOAD)PERMC_AT(word, i))
#endif
} else {
  SORT_STORE_ALL(SORT_WORD, to, PERMC_AT(word, i))
}
#ifdef SORT_APART
TILE_EACH_ITEM
PERMC_AT(payload, i) = PERMC_GET(SORT_PAYLOAD,
                                 staged_payload + (SORT_SPREAD(TILE_THREADS) * i + SORT_SPREAD(t)));
TILE_END
SORT_STORE_ALL(SORT_PAYLOAD, payload_to, PERMC_AT(payload, i))
#endif
PERMC_KERNEL_END

#endif
