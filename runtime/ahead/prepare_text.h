// The tables of roots of a program (program_text.h), and its workspace. Part of each library made
// ahead of time.

enum { PERMC_ALIGNED = 256 };

static uint64_t permc_root_entries(const permc_root_table *t) {
  return t->vectors ? UINT64_C(1) << t->bits : t->m;
}

// Of entry q, the number of the root.
static uint64_t permc_root_number(const permc_root_table *t, uint64_t q) {
  uint64_t rows = t->constant, k = t->offset, i;
  if (!t->vectors)
    return q;
  for (i = 0; q >> i; i++)
    if (q >> i & 1)
      rows ^= t->vectors[i];
  for (i = 0; i < 64 && rows >> i; i++)
    if (rows >> i & 1)
      k += t->weights[i];
  return k;
}

static void permc_store_part(char *table, const permc_root_table *t, uint64_t place, double part) {
  float narrow = (float)part;
  memcpy(table + place * t->part_bytes, t->part_bytes == 4 ? (const void *)&narrow : &part,
         (size_t)t->part_bytes);
}

static void permc_fill_roots(const permc_root_table *t, char *table) {
  uint64_t entries = permc_root_entries(t), q;
  for (q = 0; q < entries; q++) {
    double parts[2];
    root_parts(t->part_bytes == 8, (int64_t)permc_root_number(t, q), (int64_t)t->m, parts);
    permc_store_part(table, t, t->vectors ? q : 2 * q, parts[0]);
    permc_store_part(table, t, t->vectors ? q + entries : 2 * q + 1, parts[1]);
  }
  q = 2 * entries * t->part_bytes;
  memset(table + q, 0, (size_t)(permc_root_bytes(t) - q));
}
