// The kernels that merge runs which shares have sorted (sort.h): pairs of them, of a row that lies
// on several devices. This text stands in generated files as it is here, behind
// kernels/routines/sort/merge_runs_text.h.
//
//   cuts    a thread for each tile    how many of the keys before it are of the pair's first run: of
//                                     one of each MERGE_STRIDE tiles, then of those between them
//   merge   a block for each tile     merges what lies between its cut and the next one
//
// Runs have `run` keys, and follow each other. A pair has `tiles` tiles, of which the last may be
// shorter.

// The cuts of each MERGE_STRIDE-th tile of a pair, or (`between`) the others, which lie between
// those.
PERMC_KERNEL(cuts, 256, 4, 0, const SORT_KEY *const from, uint64_t *const cuts, const uint64_t run,
             const uint64_t tiles, const uint64_t all, const uint64_t between)
PERMC_THREADS(256)
const uint64_t i = item * 256 + t, strides = (tiles + MERGE_STRIDE - 1) / MERGE_STRIDE;
const uint64_t pair = between ? i / tiles : i / strides;
const uint64_t tile = between ? i % tiles : i % strides * MERGE_STRIDE;
const uint64_t before = tile / MERGE_STRIDE * MERGE_STRIDE, behind = before + MERGE_STRIDE;
const SORT_KEY *const a = from + pair * 2 * run, *const b = a + run;
uint64_t *const own = cuts + pair * tiles;
const uint64_t count = tile * MERGE_ROOM;
if (pair * tiles < all && (!between || tile != before)) {
  if (between) {
    const uint64_t some = count - before * MERGE_ROOM, first = own[before];
    const uint64_t end = behind < tiles ? own[behind] : run;
    const uint64_t low = count > run && first < count - run ? count - run : first;
    const uint64_t high = end < first + some ? end : first + some;
    own[tile] = merge_cut_within(a, b, count, low, high, 3);
  } else {
    own[tile] = merge_cut(a, run, b, run, count, 7);
  }
}
PERMC_END
PERMC_KERNEL_END

// The number of a key that a share has given it becomes one of the row by adding `numbers` for each
// run before its own.
PERMC_KERNEL(merge, MERGE_THREADS, MERGE_BLOCKS, 0, const SORT_KEY *const from, SORT_KEY *const to,
#if MERGE_ALONG_BYTES
             const SORT_PAYLOAD *const along, SORT_PAYLOAD *const moved,
#endif
             const uint64_t *const cuts, const uint64_t run, const uint64_t tiles,
             const uint64_t numbers)
SORT_KEY *const staged = MERGE_STAGED(scratch);
const uint64_t pair = item / tiles, tile = item % tiles, place = tile * MERGE_ROOM;
const uint64_t left = 2 * run - place, begin = pair * 2 * run;
const uint32_t live = left < MERGE_ROOM ? (uint32_t)left : MERGE_ROOM;
const uint64_t cut = cuts[item], next = tile + 1 == tiles ? run : cuts[item + 1];
const uint32_t of_a = (uint32_t)(next - cut);
const uint64_t first_a = begin + cut, first_b = begin + run + (place - cut) - of_a;
(void)numbers;
MERGE_FILL(SORT_KEY, staged, 0, live, from + ((p < of_a ? first_a : first_b) + p))
merge_runs(scratch, of_a, live);
if (to) {
  MERGE_EACH_KEY
  if (p < live)
    PERMC_STORE(SORT_KEY, to + (begin + place + p), staged[p]);
  MERGE_END
}
#if MERGE_ALONG_BYTES
PERMC_BARRIER
SORT_PAYLOAD *const staged_along = (SORT_PAYLOAD *)scratch;
const uint16_t *const order = MERGE_NUMBERS(scratch);
MERGE_FILL(SORT_PAYLOAD, staged_along, 0, live, along + ((p < of_a ? first_a : first_b) + p))
MERGE_EACH_KEY
if (p < live) {
  const uint32_t number = order[p];
  const uint64_t before = numbers * (2 * pair + (number < of_a ? 0 : 1));
  PERMC_STORE(SORT_PAYLOAD, moved + (begin + place + p),
              (SORT_PAYLOAD)(staged_along[number] + before));
}
MERGE_END
#endif
PERMC_KERNEL_END
