// CUB's sorts on a GPU: of u32, f32 or u64 keys, or of u32 keys with u32 values by key (--type);
// one of four algorithms, or the fastest (--algorithm): of radix and merge sort; row by row
// (--row, --offsets), of the segmented sort and the segmented radix sort. For the times see gpu.cuh.
#include "gpu.cuh"
#include "peer.h"

#include <cub/cub.cuh>

#include <algorithm>
#include <fstream>
#include <vector>

#ifndef CUB_PEER
#define CUB_PEER "cub"  // of the CUDA toolkit; of another CCCL "cccl"
#endif

namespace {

uint64_t count, row;
void *given, *sorted;               // keys
uint32_t *given_values, *moved;     // their values, which are their places
int *starts;                        // of the rows, and the end of the last
std::vector<uint32_t> given_words;  // the keys' bits
std::vector<int64_t> offsets;       // as `starts`

// ---- the sorts ----------------------------------------------------------------------------------

struct less {
  template <typename K> __device__ bool operator()(const K &a, const K &b) const { return a < b; }
};

// The sorts of keys of one type, alone or with values.
template <typename K, bool pairs> struct sorts {
  static const int bits = 8 * sizeof(K);
  static const K *in() { return static_cast<const K *>(given); }
  static K *out() { return static_cast<K *>(sorted); }
  static int keys() { return static_cast<int>(count); }
  static int rows() { return static_cast<int>(offsets.size() - 1); }
  static const uint32_t *values() { return given_values; }

  static cudaError_t radix(void *t, size_t *bytes, cudaStream_t s) {
    if constexpr (pairs)
      return cub::DeviceRadixSort::SortPairs(t, *bytes, in(), out(), values(), moved, keys(), 0,
                                             bits, s);
    else
      return cub::DeviceRadixSort::SortKeys(t, *bytes, in(), out(), keys(), 0, bits, s);
  }

  static cudaError_t merge(void *t, size_t *bytes, cudaStream_t s) {
    if constexpr (pairs)
      return cub::DeviceMergeSort::SortPairsCopy(t, *bytes, in(), values(), out(), moved, keys(),
                                                 less(), s);
    else
      return cub::DeviceMergeSort::SortKeysCopy(t, *bytes, in(), out(), keys(), less(), s);
  }

  static cudaError_t segmented(void *t, size_t *bytes, cudaStream_t s) {
    if constexpr (pairs)
      return cub::DeviceSegmentedSort::SortPairs(t, *bytes, in(), out(), values(), moved, keys(),
                                                 rows(), starts, starts + 1, s);
    else
      return cub::DeviceSegmentedSort::SortKeys(t, *bytes, in(), out(), keys(), rows(), starts,
                                                starts + 1, s);
  }

  static cudaError_t segmented_radix(void *t, size_t *bytes, cudaStream_t s) {
    if constexpr (pairs)
      return cub::DeviceSegmentedRadixSort::SortPairs(
          t, *bytes, in(), out(), values(), moved, keys(), rows(), starts, starts + 1, 0, bits, s);
    else
      return cub::DeviceSegmentedRadixSort::SortKeys(t, *bytes, in(), out(), keys(), rows(), starts,
                                                     starts + 1, 0, bits, s);
  }

  // Each row by itself: where a row is all there is, the candidates are the first two.
  static bool choose(const char *algorithm) {
    bool whole = row == count;
    static const gpu::method methods[] = {
        {"radix", "radix sort", whole, radix},
        {"merge", "merge sort", whole, merge},
        {"segmented", "segmented sort", !whole, segmented},
        {"segmented-radix", "segmented radix sort", !whole, segmented_radix}};
    static gpu::method usable[4];
    int found = 0;
    for (const gpu::method &m : methods)
      if (whole || m.candidate)
        usable[found++] = m;
    return gpu::choose(usable, found, algorithm);
  }

  static std::vector<K> row_of(const uint32_t *words, uint64_t length) {
    std::vector<K> keys(length);
    if (length)
      memcpy(keys.data(), words, length * sizeof(K));
    return keys;
  }

  static bool in_order(const uint32_t *words, uint64_t length) {
    std::vector<K> keys = row_of(words, length);
    return std::is_sorted(keys.begin(), keys.end());
  }

  // A sum over the bits of the keys in any order.
  static uint64_t sum_of(const uint32_t *words, uint64_t length) {
    uint64_t sum = 0;
    for (const K &key : row_of(words, length)) {
      uint64_t z = 0;
      memcpy(&z, &key, sizeof key);
      z = (z + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
      sum += (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    }
    return sum;
  }
};

struct key_type {
  const char *word;
  bool pairs, floats;
  bool (*choose)(const char *algorithm);
  bool (*in_order)(const uint32_t *words, uint64_t length);  // a row
  uint64_t (*sum_of)(const uint32_t *words, uint64_t length);
  unsigned words;  // of a key
};

template <typename K, bool pairs> constexpr key_type keys_of(const char *word, bool floats) {
  using s = sorts<K, pairs>;
  return {word, pairs, floats, s::choose, s::in_order, s::sum_of, sizeof(K) / 4};
}

const key_type key_types[] = {
    keys_of<uint32_t, false>("u32", false), keys_of<float, false>("f32", true),
    keys_of<uint64_t, false>("u64", false), keys_of<uint32_t, true>("u32pair", false)};
const key_type *type = key_types;

// ---- the peer -----------------------------------------------------------------------------------

// Uniform in [0, 1), as permc's own.
void make_floats() {
  for (uint32_t &word : given_words) {
    float value = static_cast<float>(word >> 8) * 0x1p-24f;
    memcpy(&word, &value, sizeof word);
  }
}

// Rows of one length; or by the last words of a file, whatever its header is.
const char *cut_rows(const char *file) {
  offsets.resize(count / row + 1);
  for (uint64_t i = 0; i < offsets.size(); i++)
    offsets[i] = static_cast<int64_t>(i * row);
  if (!file)
    return nullptr;
  auto bytes = static_cast<std::streamoff>(offsets.size() * sizeof offsets[0]);
  std::ifstream from(file, std::ios::binary);
  from.seekg(-bytes, std::ios::end);
  return from.read(reinterpret_cast<char *>(offsets.data()), bytes) ? nullptr : "no such offsets";
}

bool fill_memory() {
  std::vector<int> narrow(offsets.begin(), offsets.end());
  std::vector<uint32_t> places(type->pairs ? count : 0);
  for (uint64_t i = 0; i < places.size(); i++)
    places[i] = static_cast<uint32_t>(i);
  return gpu::allocate(reinterpret_cast<uint32_t **>(&given), count * type->words) &&
         gpu::allocate(reinterpret_cast<uint32_t **>(&sorted), count * type->words) &&
         gpu::allocate(&given_values, places.size()) && gpu::allocate(&moved, places.size()) &&
         gpu::allocate(&starts, narrow.size()) &&
         gpu::upload(static_cast<uint32_t *>(given), given_words.data(), count * type->words) &&
         gpu::upload(given_values, places.data(), places.size()) &&
         gpu::upload(starts, narrow.data(), narrow.size());
}

// Nothing right is left over from a method that was not chosen.
bool overwrite_results() {
  return gpu::good(cudaMemset(sorted, 0xa5, count * type->words * 4), "cudaMemset") &&
         gpu::good(cudaMemset(moved, 0xa5, type->pairs ? count * 4 : 0), "cudaMemset") &&
         gpu::good(cudaDeviceSynchronize(), "cudaMemset");
}

const char *prepare(const peer_options *o) {
  count = o->count;
  row = o->row;
  if (count % row || count > INT32_MAX)
    return "the rows do not fill the input, or it is too large";
  if (const char *wrong = cut_rows(o->offsets))
    return wrong;
  for (const key_type &t : key_types)
    if (o->type && strcmp(t.word, o->type) == 0)
      type = &t;
  given_words.resize(count * type->words + 2);
  peer_random(given_words.data(), count * type->words * 4 + 4);
  if (type->floats)
    make_floats();
  bool ready = gpu::open() && fill_memory() && type->choose(o->algorithm ? o->algorithm : "best") &&
               overwrite_results();
  return ready ? nullptr : gpu::wrong();
}

// Each place of the row is there once, beside the key that was given there.
bool values_follow(const uint32_t *keys, const uint32_t *values, uint64_t start, uint64_t length) {
  std::vector<bool> seen(length);
  for (uint64_t i = 0; i < length; i++) {
    uint64_t place = values[i] - start;
    if (place >= length || seen[place] || given_words[start + place] != keys[i])
      return false;
    seen[place] = true;
  }
  return true;
}

const char *check() {
  std::vector<uint32_t> keys(count * type->words), values(type->pairs ? count : 0);
  if (!gpu::download(keys.data(), static_cast<uint32_t *>(sorted), keys.size()) ||
      !gpu::download(values.data(), moved, values.size()))
    return gpu::wrong();
  for (uint64_t i = 0; i + 1 < offsets.size(); i++) {
    uint64_t start = static_cast<uint64_t>(offsets[i]);
    uint64_t length = static_cast<uint64_t>(offsets[i + 1]) - start;
    const uint32_t *had = given_words.data() + start * type->words,
                   *has = keys.data() + start * type->words;
    if (!type->in_order(has, length))
      return "a row is not sorted";
    if (type->sum_of(has, length) != type->sum_of(had, length))
      return "a row has other keys than it was given";
    if (type->pairs && !values_follow(has, values.data() + start, start, length))
      return "a value has left its key";
  }
  return nullptr;
}

}  // namespace

extern "C" const peer this_peer;
const peer this_peer = {CUB_PEER,
                        1,
                        prepare,
                        gpu::turn,
                        check,
                        "best radix merge segmented segmented-radix",
                        "u32 f32 u64 u32pair",
                        gpu::chosen_name};
