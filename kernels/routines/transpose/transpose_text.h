// The kernel of a transpose. This text stands in generated files as it is here, behind
// kernels/text/cuda_host.h and these (kernels/routines/transpose/transpose_write.c); those with (k)
// are of turn k:
//
//   transpose_element   a type of 1, 2, 4, 8 or 16 bytes   TRANSPOSE_SCRATCH   elements
//   TRANSPOSE_THREADS   of a block                         TRANSPOSE_BLOCKS    on a multiprocessor
//   TRANSPOSE_PACKED    elements that are stored at once   TRANSPOSE_LINE      elements of a line
//
// A tile; its rows are runs of the result, whose last dimension is cut by elements:
//
//   TRANSPOSE_NUMBERS   declares its numbers nD in all dimensions D; TRANSPOSE_NUMBER   in the cut one
//   TRANSPOSE_RUN       elements of a run; TRANSPOSE_INNER   of an index of the cut dimension;
//   TRANSPOSE_ROW       of all of a row; TRANSPOSE_BOX_ROW   of what the box has of a row
//   TRANSPOSE_STARTS    declares where the box begins, sD, and how much of it there is, leftD
//   TRANSPOSE_START, TRANSPOSE_ROW_START   where that is in the array before, and its first row after
//
// Threads read the box of the tile, and write its rows, in turns:
//
//   TRANSPOSE_READS, TRANSPOSE_AT_ONCE     turns, and those whose loads are under way together
//   TRANSPOSE_READER, TRANSPOSE_READERS    declares what a thread has of its own, aI; threads at work
//   TRANSPOSE_IS_READ(k)                   whether there is such an element
//   TRANSPOSE_FROM_THREAD, _FROM_TURN(k)   where it is: what the thread comes to, and what the turn adds
//   TRANSPOSE_PUT_THREAD, _PUT_TURN(k)     ... in scratch
//   TRANSPOSE_WRITES, _WRITER, _WRITERS, _IS_WRITTEN(k), _TO_THREAD, _TO_TURN(k)   the same of rows
//   TRANSPOSE_NEXT(k)                      what the turn adds to the thread's place in the run
//   TRANSPOSE_GET(f, i, k)                 where element f + i + that of the row is in scratch

// Rows begin anywhere, so that two warps need one sector: the first cache has it for both.
#ifdef PERMC_HOST
#define TRANSPOSE_LOAD(p) PERMC_LOAD(transpose_element, p)
#define TRANSPOSE_TURN(k)                                                                          \
  const uint32_t permc_turn = (k);                                                                 \
  (void)permc_turn;
#else
#define TRANSPOSE_LOAD(p) (*(p))
#define TRANSPOSE_TURN(k)
#endif

PERMC_KERNEL(transpose, TRANSPOSE_THREADS, TRANSPOSE_BLOCKS,
             TRANSPOSE_SCRATCH * sizeof(transpose_element), const transpose_element *const from,
             transpose_element *const to)
TRANSPOSE_NUMBERS
const uint64_t at = TRANSPOSE_NUMBER * TRANSPOSE_RUN;
const uint64_t cut = (at < TRANSPOSE_LINE ? 0 : at - (TRANSPOSE_LINE - 1)) / TRANSPOSE_INNER;
const uint64_t behind = cut * TRANSPOSE_INNER;
const uint32_t ahead = (uint32_t)(at - behind);
const uint32_t left = TRANSPOSE_ROW - behind < TRANSPOSE_BOX_ROW
                          ? (uint32_t)(TRANSPOSE_ROW - behind)
                          : TRANSPOSE_BOX_ROW;
TRANSPOSE_STARTS
transpose_element *const box = (transpose_element *)scratch;
PERMC_THREADS(TRANSPOSE_THREADS)
TRANSPOSE_READER
const transpose_element *const own = from + TRANSPOSE_START + TRANSPOSE_FROM_THREAD;
transpose_element *const put = box + TRANSPOSE_PUT_THREAD;
if (t < TRANSPOSE_READERS) {
  PERMC_UNROLL for (uint32_t turn = 0; turn < TRANSPOSE_READS; turn += TRANSPOSE_AT_ONCE) {
    transpose_element kept[TRANSPOSE_AT_ONCE];
    PERMC_UNROLL for (uint32_t k = 0; k < TRANSPOSE_AT_ONCE; k++) {
      TRANSPOSE_TURN(turn + k)
      if (turn + k < TRANSPOSE_READS && TRANSPOSE_IS_READ(turn + k))
        kept[k] = TRANSPOSE_LOAD(own + TRANSPOSE_FROM_TURN(turn + k));
    }
    PERMC_UNROLL for (uint32_t k = 0; k < TRANSPOSE_AT_ONCE; k++) {
      TRANSPOSE_TURN(turn + k)
      if (turn + k < TRANSPOSE_READS && TRANSPOSE_IS_READ(turn + k))
        PERMC_PUT(transpose_element, put + TRANSPOSE_PUT_TURN(turn + k), kept[k]);
    }
  }
}
PERMC_END
PERMC_BARRIER
PERMC_THREADS(TRANSPOSE_THREADS)
TRANSPOSE_WRITER
if (t < TRANSPOSE_WRITERS) {
  transpose_element *const own = to + (behind + TRANSPOSE_ROW_START) + TRANSPOSE_TO_THREAD;
  const uint32_t place = (uint32_t)((size_t)own / sizeof(transpose_element) - behind);
  PERMC_UNROLL for (uint32_t k = 0; k < TRANSPOSE_WRITES; k++) {
    transpose_element *const row = own + TRANSPOSE_TO_TURN(k);
    const uint32_t shift = (place + (uint32_t)TRANSPOSE_TO_TURN(k)) % TRANSPOSE_LINE;
    const uint32_t f = ahead + a0 * TRANSPOSE_PACKED - shift;  // less than 0: beyond `left`
    if (TRANSPOSE_IS_WRITTEN(k)) {
#if TRANSPOSE_PACKED > 1
      if (f + TRANSPOSE_NEXT(k) < left && f + (TRANSPOSE_NEXT(k) + TRANSPOSE_PACKED - 1) < left) {
        uint32_t all = 0;
        PERMC_UNROLL for (uint32_t i = 0; i < TRANSPOSE_PACKED; i++) {
          TRANSPOSE_TURN(k * TRANSPOSE_PACKED + i)
          all |= (uint32_t)PERMC_GET(transpose_element, box + TRANSPOSE_GET(f, i, k))
                 << 8 * sizeof(transpose_element) * i;
        }
        TRANSPOSE_TURN(k)
        PERMC_STORE(uint32_t, row + (int32_t)(f + TRANSPOSE_NEXT(k)), all);
      } else
#endif
        for (uint32_t i = 0; i < TRANSPOSE_PACKED; i++) {
          TRANSPOSE_TURN(k * TRANSPOSE_PACKED + i)
          if (f + (TRANSPOSE_NEXT(k) + i) < left) {
            const transpose_element v = PERMC_GET(transpose_element, box + TRANSPOSE_GET(f, i, k));
            PERMC_STORE(transpose_element, row + (int32_t)(f + (TRANSPOSE_NEXT(k) + i)), v);
          }
        }
    }
  }
}
PERMC_END
PERMC_KERNEL_END
