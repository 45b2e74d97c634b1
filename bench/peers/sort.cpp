// Sorts of u32, u64 or f32 keys, all or row by row: the program that SORT_WITH_... says.
//
// Sorting by comparisons learns: a short input that is sorted again and again is predicted by the
// processor's branch predictors after some runs. Short sorts therefore go through many inputs.
#include "peer.h"

#include <algorithm>
#include <cstring>

#if defined(SORT_WITH_X86_SIMD_SORT)
#include <x86simdsort-static-incl.h>
#ifdef XSS_USE_OPENMP
#include <omp.h>
#endif
#elif defined(SORT_WITH_VQSORT)
#include <hwy/contrib/sort/vqsort.h>
#endif

namespace {

#if defined(SORT_WITH_X86_SIMD_SORT)  // that of NumPy; by OpenMP in several threads
template <typename T> void sort_keys(T *keys, size_t n) { x86simdsortStatic::qsort(keys, n); }
#elif defined(SORT_WITH_VQSORT)  // that of Highway
template <typename T> void sort_keys(T *keys, size_t n) {
  hwy::VQSort(keys, n, hwy::SortAscending());
}
#else
template <typename T> void sort_keys(T *keys, size_t n) { std::sort(keys, keys + n); }
#endif

const uint64_t least_pool = uint64_t(1) << 20;  // keys in all inputs
const double short_turn = 100e-6;

uint64_t count, row, inputs;  // keys in an input, in a row of it; inputs in the pool
uint64_t next, used;          // the input where the last turn began, how many it sorted
size_t size;                  // of a key
char *given, *sorted;
void (*sort_row)(char *row);
bool (*in_order)(const char *row);

template <typename T> void sort_row_of(char *keys) { sort_keys(reinterpret_cast<T *>(keys), row); }
template <typename T> bool in_order_of(const char *keys) {
  auto begin = reinterpret_cast<const T *>(keys);
  return std::is_sorted(begin, begin + row);
}

template <typename T> void use_type() {
  size = sizeof(T);
  sort_row = sort_row_of<T>;
  in_order = in_order_of<T>;
}

// Random bits as floats would be NaN now and then.
void make_floats(uint64_t keys) {
  for (uint64_t i = 0; i < keys; i++) {
    uint32_t bits;
    std::memcpy(&bits, given + i * size, size);
    float key = static_cast<float>(static_cast<int32_t>(bits));
    std::memcpy(given + i * size, &key, size);
  }
}

const char *prepare(const peer_options *o) {
  bool floats = o->type && !std::strcmp(o->type, "f32");
  if (floats)
    use_type<float>();
  else if (o->type && !std::strcmp(o->type, "u64"))
    use_type<uint64_t>();
  else
    use_type<uint32_t>();
  count = o->count;
  row = o->row;
  inputs = std::max<uint64_t>(1, least_pool / count);
  given = static_cast<char *>(peer_memory(inputs * count * size + 8));
  sorted = static_cast<char *>(peer_memory(inputs * count * size + 8));
  if (!given || !sorted)
    return "out of memory";
  peer_random(given, inputs * count * size + 4);
  if (floats)
    make_floats(inputs * count);
  used = 0;
#ifdef XSS_USE_OPENMP
  omp_set_num_threads(static_cast<int>(o->threads));
#endif
  return count % row ? "the rows do not fill the input" : nullptr;
}

void sort_input(uint64_t number) {
  for (uint64_t start = 0; start < count; start += row)
    sort_row(sorted + (number * count + start) * size);
}

// Sorts inputs until the time is worth measuring.
bool turn(double *seconds) {
  next = next + used < inputs ? next + used : 0;
  uint64_t start_byte = next * count * size;
  std::memcpy(sorted + start_byte, given + start_byte, (inputs - next) * count * size);
  double start = peer_now(), now = start;
  for (used = 0; next + used < inputs && now - start < short_turn; used++) {
    sort_input(next + used);
    now = peer_now();
  }
  *seconds = (now - start) / static_cast<double>(used);
  return true;
}

const char *check() {
  for (uint64_t i = next * count; i < (next + used) * count; i += row)
    if (!in_order(sorted + i * size))
      return "a row is not sorted";
  return nullptr;
}

}  // namespace

extern "C" const peer this_peer;
#if defined(SORT_WITH_X86_SIMD_SORT)
#ifdef XSS_USE_OPENMP
const unsigned most_threads = 0;
#else
const unsigned most_threads = 1;
#endif
const peer this_peer = {"x86_simd_sort", most_threads, prepare,      turn,
                        check,           nullptr,      "u32 u64 f32"};
#elif defined(SORT_WITH_VQSORT)
const peer this_peer = {"vqsort", 1, prepare, turn, check, nullptr, "u32 u64 f32"};
#else
const peer this_peer = {"std_sort", 1, prepare, turn, check, nullptr, "u32 u64 f32"};
#endif
