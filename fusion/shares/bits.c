// A stage in shares by bits of its index: runs of its ops, each with a V that contains their
// directions. See shares.h.
#include "fusion/shares/sharing.h"

// A run of ops that shares execute without others.
typedef struct part {
  uint32_t first, end;
  bool whole;        // each rank executes all of it: it has at most an element of each share
  f2_affine number;  // of shares
} part;

// Where a part finds a value of another.
typedef struct arrival {
  net_id array;  // NET_NONE: it does not read it
  f2_affine at;  // the address of element x
} arrival;

typedef struct cutting {
  sharing *s;
  const net_stage *stage;
  net_uses uses;
  VEC(part) parts;
  bool *reads;        // by part and value: whether the part's ops read it
  arrival *arrivals;  // by part and value
  f2_affine loaded;   // the number of shares in which the largest argument lies
  f2_affine stored;   // ... a result shall lie; of no rows: none does
} cutting;

static size_t slot(const cutting *c, uint32_t number, net_id v) {
  return number * (c->stage->values.count + 1) + v;
}

// ---- arrays in slabs ----------------------------------------------------------------------------

uint64_t sharing_slab(uint64_t count, int p) {
  int n = count > 1 ? f2_msb(count - 1) + 1 : 0;
  return n < p || count == 0 || p == 0 ? 0 : f2_unit(n - p);
}

// Whether the stage can be shared by bits of its index.
static bool sharing_has_bits(const sharing *s, const net_stage *stage) {
  if (stage->routine || stage->loop_count || stage->n < s->p || s->p == 0)
    return false;
  for (size_t i = 0; i < stage->ops.count; i++)
    if ((int)stage->ops.items[i].k > stage->n - s->p)
      return false;
  return stage->n > 0 && !net_stage_scatters(stage);
}

// Whether each share of the index has the same part of the elements.
static bool shares_all(f2_affine number) { return f2_rank(number.a) == number.a.rows; }

bool sharing_stores_by_bits(const sharing *s, const net_stage *stage, const net_store *o) {
  f2_affine number;
  uint64_t slab = sharing_slab(s->from->arrays.items[o->array].count, s->p);
  return sharing_has_bits(s, stage) &&
         sharing_goes_to_slabs(s->p, stage->n, &o->map, slab, &number) && shares_all(number);
}

// Whether what is stored lies in slabs: then *number is its share.
static bool stores_in_slabs(const cutting *c, const net_store *o, f2_affine *number) {
  uint64_t slab = sharing_slab(c->s->to->arrays.items[o->array].count, c->s->p);
  return c->s->by_bits[o->array] &&
         sharing_goes_to_slabs(c->s->p, c->stage->n, &o->map, slab, number);
}

// ---- parts --------------------------------------------------------------------------------------

static bool acts_in(const net_op *op, f2_space v) {
  for (uint32_t i = 0; i < op->k; i++)
    if (!f2_space_has(v, op->directions[i]))
      return false;
  return true;
}

static f2_space with_directions(f2_space v, const net_op *op) {
  for (uint32_t i = 0; i < op->k; i++)
    f2_space_insert(&v, op->directions[i]);
  return v;
}

// So few elements that each rank may rather have all of them: a gather sends less than an exchange.
static bool has_few(const cutting *c, f2_space live) {
  enum { MOST = 6 };  // log2, of a share
  return live_points(live) <= f2_unit(c->s->p + MOST) && live.dimension >= c->s->p;
}

// Whether each rank rather executes the op as a whole: it acts on few elements, and none of them is
// loaded.
static bool is_few(const cutting *c, uint32_t op) {
  bool few = has_few(c, live_of_op(c->stage, &c->stage->ops.items[op]));
  for (uint32_t i = 0; i < c->uses.reads[op].count && few; i++)
    few = c->uses.values[c->uses.reads[op].values[i]].maker != NET_NONE;
  return few;
}

// The space with vectors of others, in their order, until it has that dimension.
static f2_space widened(f2_space v, const f2_space *by, size_t count, int dimension) {
  for (size_t i = 0; i < count; i++)
    for (int k = 0; k < by[i].dimension && v.dimension < dimension; k++)
      f2_space_insert(&v, by[i].basis[k]);
  return v;
}

// The space of a part's shares, from that of its directions: where what it loads or stores lies
// already, or else with as much as can be of the space before.
static f2_space space_of_part(const cutting *c, f2_space v, bool first, bool last) {
  int n = c->stage->n;
  f2_space by[4], *next = by;
  f2_space loaded = f2_kernel(c->loaded.a), stored = f2_kernel(c->stored.a);
  if (first && c->loaded.a.rows && f2_space_contains(loaded, v))
    return loaded;
  if (last && c->stored.a.rows && f2_space_contains(stored, v))
    return stored;
  if (c->parts.count)
    *next++ = f2_kernel(c->parts.items[c->parts.count - 1].number.a);
  if (c->loaded.a.rows)
    *next++ = loaded;
  *next++ = f2_space_full(n);
  return widened(v, by, (size_t)(next - by), n - c->s->p);
}

static f2_affine number_of_part(const cutting *c, f2_space v) {
  f2_affine before = {f2_zero(c->s->p, c->stage->n), 0};
  if (c->loaded.a.rows && f2_space_equal(v, f2_kernel(c->loaded.a)))
    return c->loaded;
  if (c->stored.a.rows && f2_space_equal(v, f2_kernel(c->stored.a)))
    return c->stored;
  for (size_t i = c->parts.count; i-- > 0;)
    if (!c->parts.items[i].whole)
      return sharing_number(v, c->parts.items[i].number);
  return sharing_number(v, c->loaded.a.rows ? c->loaded : before);
}

// The longest part from op `first`.
static part next_part(const cutting *c, uint32_t first) {
  const net_stage *s = c->stage;
  uint32_t end = first, ops = (uint32_t)s->ops.count;
  while (end < ops && is_few(c, end))
    end++;
  if (end > first)
    return (part){first, end, true, {f2_zero(0, s->n), 0}};
  f2_space loaded = f2_kernel(c->loaded.a), v = f2_space_zero(s->n);
  bool begins = first == 0 && c->loaded.a.rows;
  for (; end < ops && begins && acts_in(&s->ops.items[end], loaded); end++)
    v = with_directions(v, &s->ops.items[end]);
  bool generic = v.dimension == 0;
  for (; end < ops && generic; end++) {
    const net_op *op = &s->ops.items[end];
    f2_space wider = with_directions(v, op);
    if (wider.dimension > s->n - c->s->p || (wider.dimension > v.dimension && is_few(c, end)))
      break;
    v = wider;
  }
  v = space_of_part(c, v, first == 0, end == ops);
  return (part){first, end, false, number_of_part(c, v)};
}

// Where the largest of what is loaded lies, and of what is stored shall lie.
static void find_homes(cutting *c) {
  f2_affine number;
  uint64_t most = 0;
  for (size_t i = 0; i < c->stage->loads.count; i++) {
    const net_load *l = &c->stage->loads.items[i];
    if (sharing_goes_to_slabs(c->s->p, c->stage->n, &l->map, c->s->slab.items[l->array], &number) &&
        shares_all(number) && scalar_types[c->stage->values.items[l->value]].size > most) {
      most = scalar_types[c->stage->values.items[l->value]].size;
      c->loaded = number;
    }
  }
  for (size_t i = 0; i < c->stage->stores.count && !c->stored.a.rows; i++)
    if (stores_in_slabs(c, &c->stage->stores.items[i], &number))
      c->stored = number;
}

static void find_reads(cutting *c) {
  size_t slots = slot(c, (uint32_t)c->parts.count, 0);
  c->reads = NEW_ARRAY(c->s->memory, bool, slots);
  c->arrivals = NEW_ARRAY(c->s->memory, arrival, slots);
  for (size_t i = 0; i < slots; i++)
    c->arrivals[i].array = NET_NONE;
  for (uint32_t k = 0; k < c->parts.count; k++)
    for (uint32_t i = c->parts.items[k].first; i < c->parts.items[k].end; i++)
      for (uint32_t r = 0; r < c->uses.reads[i].count; r++)
        c->reads[slot(c, k, c->uses.reads[i].values[r])] = true;
}

static void find_parts(cutting *c) {
  const net_stage *s = c->stage;
  c->loaded = c->stored = (f2_affine){f2_zero(0, s->n), 0};
  c->uses = net_uses_of(c->s->memory, s);
  find_homes(c);
  for (uint32_t at = 0; at < s->ops.count || c->parts.count == 0;) {
    part k = next_part(c, at);
    vec_push(c->s->memory, &c->parts, k);
    at = k.end;
  }
  find_reads(c);
}

static uint32_t part_of_value(const cutting *c, net_id v) {
  uint32_t k = 0;
  if (c->uses.values[v].maker == NET_NONE) {
    while (k < c->parts.count && !c->reads[slot(c, k, v)])
      k++;
    return k < c->parts.count ? k : 0;
  }
  while (c->uses.values[v].maker >= c->parts.items[k].end)
    k++;
  return k;
}

// ---- stages -------------------------------------------------------------------------------------

// Whether later parts read the value.
static bool leaves_part(const cutting *c, const part *k, net_id v) {
  for (uint32_t i = 0; i < c->parts.count; i++)
    if (c->parts.items[i].first >= k->end && c->reads[slot(c, i, v)])
      return true;
  return false;
}

// The stage of a part's ops.
static net_stage stage_of_part(const cutting *c, const part *k, net_id *numbers) {
  arena *a = c->s->memory;
  const net_stage *from = c->stage;
  uint32_t *ops = NEW_ARRAY(a, uint32_t, k->end - k->first + 1);
  bool *kept = NEW_ARRAY(a, bool, from->values.count + 1);
  for (uint32_t i = k->first; i < k->end; i++)
    ops[i - k->first] = i;
  for (net_id v = 0; v < from->values.count; v++)
    kept[v] = leaves_part(c, k, v);
  net_stage to = net_stage_of_ops(a, from, ops, k->end - k->first, kept, numbers);
  sharing_gather_from_whole(c->s, &to);
  return to;
}

static net_map map_of(const cutting *c, f2_affine address) {
  net_stage s = {.n = c->stage->n};
  return net_stage_map(c->s->memory, &s, address);
}

static void load_from(const cutting *c, net_stage *to, net_id value, net_id array, net_map map) {
  net_load l = {.value = value, .array = array, .map = map, .padding_start = UINT64_MAX};
  vec_push(c->s->memory, &to->loads, l);
}

static void store_to(const cutting *c, net_stage *to, net_id value, net_id array, net_map map,
                     f2_space live) {
  net_store o = {.value = value, .array = array, .map = map, .padding_start = UINT64_MAX};
  o.live = live_forms(c->s->memory, live, &o.live_count);
  vec_push(c->s->memory, &to->stores, o);
}

// Adds a stage whose index is that of the stage that is cut: in shares, or as a whole.
static void add_part(const cutting *c, const net_stage *stage, const part *k) {
  net_stage to = {.n = c->stage->n, .shares = k->whole ? 0 : c->s->p};
  net_stage_merge(c->s->memory, &to, stage,
                  k->whole ? f2_affine_identity(to.n) : sharing_coordinates(k->number));
  if (!k->whole)
    sharing_fetch_loads(c->s, &to);
  sharing_add_stage(c->s, (share_stage){.kind = k->whole ? SHARE_WHOLE : SHARE_SPLIT}, to);
}

// Adds a stage of one load and one store.
static void add_move(const cutting *c, const part *k, const net_load *load,
                     const net_store *store) {
  net_stage stage = {.n = c->stage->n};
  net_move_add(c->s->memory, &stage, c->s->to->arrays.items[load->array].type, *load, *store);
  add_part(c, &stage, k);
}

// Adds the exchange of an array. Returns the array that it makes.
static net_id add_exchange(const cutting *c, net_id from, const passage *of) {
  share_stage e = {SHARE_EXCHANGE, from, NET_NONE, of->block, of->blocks};
  f2_affine whole = sharing_exchange_map(&e);
  if (f2_affine_equal(whole, f2_affine_identity(c->stage->n)))
    return from;
  sharing *s = c->s;
  net_array array = s->to->arrays.items[from];
  e.to = sharing_add_array(s, array.type, array.count, s->slab.items[from]);
  net_stage stage = {.n = c->stage->n};
  net_id v = net_value_add(s->memory, &stage, array.type);
  load_from(c, &stage, v, from, map_of(c, f2_affine_identity(stage.n)));
  store_to(c, &stage, v, e.to, map_of(c, whole), live_all(stage.n));
  sharing_add_stage(s, e, stage);
  return e.to;
}

// ---- values that pass from a part to others -----------------------------------------------------

// An address for the live elements, the share above: those of `rest` tell apart what the others do
// not.
static f2_affine live_address(const cutting *c, f2_space live, f2_affine number) {
  f2_space known = f2_span(c->stage->n, number.a.rows, number.a.row);
  for (int i = 0; i < live.dimension; i++)
    f2_space_insert(&known, live_form(live.basis[i]).mask);
  return sharing_stack(sharing_rest(known), number);
}

// A value that a part has in its stage, for another.
typedef struct crossing {
  part to;
  uint32_t reader;         // the number of `to`; or
  const net_store *store;  // ... of a part that does nothing else
  net_id value, array;
  f2_affine at;  // where the part stores it
  passage way;   // if it is exchanged
  bool exchanged, gathered;
} crossing;
typedef VEC(crossing) crossings;

// Stores it in the stage, which is being made, where its number is `number`.
static void send_value(const cutting *c, const part *from, net_stage *stage, net_id number,
                       f2_space live, crossing x, crossings *all) {
  sharing *s = c->s;
  bool few = x.to.whole || has_few(c, live);
  f2_affine none = {f2_zero(0, c->stage->n), 0};
  x.gathered = !from->whole && few;
  x.exchanged = !from->whole && !few;
  if (x.exchanged) {
    x.way = sharing_passage(from->number, x.to.number);
    x.at = x.way.before;
  } else {
    x.at = live_address(c, live, from->whole ? none : from->number);
  }
  uint64_t count = f2_unit(x.at.a.rows);
  x.array =
      sharing_add_array(s, c->stage->values.items[x.value], count, from->whole ? 0 : count >> s->p);
  store_to(c, stage, number, x.array, map_of(c, x.at), live);
  vec_push(s->memory, all, x);
}

// Once the stage is there.
static void receive_values(const cutting *c, const crossings *all) {
  for (size_t i = 0; i < all->count; i++) {
    const crossing *x = &all->items[i];
    arrival there = {x->array, x->at};
    if (x->exchanged)
      there = (arrival){add_exchange(c, x->array, &x->way), x->way.after};
    else if (x->gathered)
      there.array = sharing_whole_array(c->s, x->array);
    net_load load = {.array = there.array, .padding_start = UINT64_MAX};
    load.map = map_of(c, there.at);
    if (x->store)
      add_move(c, &x->to, &load, x->store);
    else
      c->arrivals[slot(c, x->reader, x->value)] = there;
  }
}

// ---- loads --------------------------------------------------------------------------------------

// Whether all elements of the index are less than what a gather sends.
static bool is_exchange_cheaper(const cutting *c, net_id array) {
  return f2_unit(c->stage->n - c->s->p) < c->s->to->arrays.items[array].count;
}

// Loads of a part, from where its shares have the elements; of another place, they are packed, and
// exchanged, before.
static void add_load(const cutting *c, const part *k, net_stage *stage, const net_load *of,
                     net_id number) {
  sharing *s = c->s;
  net_load l = *of;
  l.value = number;
  f2_affine home;
  uint64_t slab = s->slab.items[l.array];
  bool by_bits = !k->whole && sharing_goes_to_slabs(s->p, c->stage->n, &l.map, slab, &home);
  if (by_bits && f2_affine_equal(home, k->number)) {
    s->fixed.items[l.array] = true;
  } else if (by_bits && shares_all(home) && is_exchange_cheaper(c, l.array)) {
    s->fixed.items[l.array] = true;
    passage way = sharing_passage(home, k->number);
    net_id packed = sharing_add_array(s, s->to->arrays.items[l.array].type, f2_unit(c->stage->n),
                                      f2_unit(c->stage->n - s->p));
    part packs = {.number = home};
    net_store store = {.array = packed, .map = map_of(c, way.before), .padding_start = UINT64_MAX};
    add_move(c, &packs, &l, &store);
    load_from(c, stage, number, add_exchange(c, packed, &way), map_of(c, way.after));
    return;
  } else if (k->whole) {
    l.array = sharing_whole_array(s, l.array);
  }
  vec_push(s->memory, &stage->loads, l);
}

static void add_loads(const cutting *c, uint32_t k, net_stage *stage, net_id *numbers) {
  const net_stage *from = c->stage;
  for (size_t i = 0; i < from->stores.count; i++) {
    net_id v = from->stores.items[i].value;
    if (c->uses.values[v].maker == NET_NONE && part_of_value(c, v) == k)
      net_value_number(c->s->memory, stage, from, numbers, v);
  }
  for (size_t i = 0; i < from->loads.count; i++) {
    net_id v = from->loads.items[i].value;
    if (numbers[v] != NET_NONE)
      add_load(c, &c->parts.items[k], stage, &from->loads.items[i], numbers[v]);
  }
  for (net_id v = 0; v < from->values.count; v++) {
    const arrival *a = &c->arrivals[slot(c, k, v)];
    if (a->array != NET_NONE)
      load_from(c, stage, numbers[v], a->array, map_of(c, a->at));
  }
}

// ---- stores -------------------------------------------------------------------------------------

// Stores that the part's shares can do themselves; others wait until what they store is there.
static void add_stores(const cutting *c, uint32_t k, net_stage *stage, net_id *numbers,
                       crossings *late) {
  const part *own = &c->parts.items[k];
  for (size_t i = 0; i < c->stage->stores.count; i++) {
    const net_store *of = &c->stage->stores.items[i];
    if (part_of_value(c, of->value) != k)
      continue;
    net_store o = *of;
    f2_affine home = own->number;
    bool slabs = stores_in_slabs(c, of, &home);
    bool direct = own->whole ? !slabs : slabs && f2_affine_equal(home, own->number);
    if (direct) {
      o.value = numbers[of->value];
      vec_push(c->s->memory, &stage->stores, o);
      continue;
    }
    send_value(c, own, stage, numbers[of->value], live_set(c->stage->n, of->live_count, of->live),
               (crossing){.to = {.whole = !slabs, .number = home}, .store = of, .value = of->value},
               late);
  }
}

// ---- the whole ----------------------------------------------------------------------------------

static void make_part(const cutting *c, uint32_t k) {
  const part *own = &c->parts.items[k];
  net_id *numbers = NEW_ARRAY(c->s->memory, net_id, c->stage->values.count + 1);
  net_stage stage = stage_of_part(c, own, numbers);
  crossings read = {0}, stored = {0};
  add_loads(c, k, &stage, numbers);
  add_stores(c, k, &stage, numbers, &stored);
  for (uint32_t reader = k + 1; reader < c->parts.count; reader++)
    for (net_id v = 0; v < c->stage->values.count; v++)
      if (c->reads[slot(c, reader, v)] && c->uses.values[v].maker != NET_NONE &&
          part_of_value(c, v) == k)
        send_value(c, own, &stage, numbers[v], live_of_value(c->stage, v),
                   (crossing){.to = c->parts.items[reader], .reader = reader, .value = v}, &read);
  add_part(c, &stage, own);
  receive_values(c, &read);
  receive_values(c, &stored);
}

bool sharing_by_bits(sharing *s, const net_stage *stage) {
  cutting c = {.s = s, .stage = stage};
  if (!sharing_has_bits(s, stage))
    return false;
  find_parts(&c);
  for (uint32_t k = 0; k < c.parts.count; k++)
    make_part(&c, k);
  return true;
}
