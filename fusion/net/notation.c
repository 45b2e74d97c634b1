// What the texts of nets and plans share. See net.h.
#include "core/number.h"
#include "fusion/net/net.h"

const net_reason_row net_reasons[NET_REASON_COUNT] = {
#define ROW(id, name, why, remedy) [NET_REASON_##id] = {name, why, remedy},
    NET_REASONS(ROW)
#undef ROW
};

#include <inttypes.h>
#include <math.h>

// ---- forms and maps -------------------------------------------------------------------------

static void write_form(text *out, net_form f) {
  if (f.mask == 0) {
    text_string(out, f.constant ? "1" : "0");
    return;
  }
  for (uint64_t rest = f.mask; rest != 0; rest &= rest - 1)
    text_printf(out, "%sx%d", rest == f.mask ? "" : "^", f2_lsb(rest));
  if (f.constant)
    text_string(out, "^1");
}

void net_write_forms(text *out, const char *title, uint32_t count, const net_form *forms) {
  for (uint32_t i = 0; i < count; i++) {
    text_string(out, i == 0 ? title : " ");
    write_form(out, forms[i]);
  }
}

// The sign, and the magnitude unless it is 1 and `factor`.
static void write_weight(text *out, int64_t weight, bool first, bool factor) {
  uint64_t magnitude = magnitude_of(weight);
  text_string(out, first ? (weight < 0 ? "-" : "") : weight < 0 ? " - " : " + ");
  if (!factor)
    text_printf(out, "%" PRIu64, magnitude);
  else if (magnitude != 1)
    text_printf(out, "%" PRIu64 "*", magnitude);
}

static void write_row(text *out, const net_row *row, bool first) {
  bool plain = f2_weight(row->form.mask) == 1 && !row->form.constant;
  write_weight(out, row->weight, first, true);
  text_string(out, plain ? "" : "(");
  write_form(out, row->form);
  text_string(out, plain ? "" : ")");
}

// Forms with a constant of a map that begins below 0 are written without it: -x0 for (x0^1) - 1.
void net_write_map(text *out, const net_map *m) {
  bool first = true, turned = m->offset < 0;
  int64_t offset = m->offset;
  for (uint32_t l = 0; l < m->loop_count; l++)
    if (m->strides[l] != 0) {
      write_weight(out, m->strides[l], first, true);
      text_printf(out, "o%" PRIu32, l);
      first = false;
    }
  for (uint32_t r = 0; r < m->row_count; r++, first = false) {
    net_row row = m->rows[r];
    if (turned && row.form.constant) {
      offset += row.weight;
      row = (net_row){{row.form.mask, false}, -row.weight};
    }
    write_row(out, &row, first);
  }
  if (offset != 0 || first)
    write_weight(out, offset, first, false);
}

void net_write_place(text *out, const net_map *m, uint64_t padding_start, scalar_type type,
                     const scalar_bits *padding) {
  text_string(out, " at ");
  net_write_map(out, m);
  if (padding_start == UINT64_MAX)
    return;
  text_printf(out, " padded from %" PRIu64, padding_start);
  if (padding) {
    text_string(out, " with ");
    net_write_constant(out, type, padding);
  }
}

void net_write_mask(text *out, uint64_t mask, int n) {
  if (n > 16) {
    text_printf(out, " 0x%" PRIx64, mask);
    return;
  }
  text_string(out, " 0b");
  for (int i = n < 1 ? 1 : n; i-- > 0;)
    text_string(out, f2_bit(mask, i) ? "1" : "0");
}

// ---- constants ------------------------------------------------------------------------------

// As many digits as tell the number from its neighbours; a NaN as its bits.
static void write_float(text *out, scalar_type type, const void *number) {
  double x;
  uint64_t bits = 0;
  size_t size = scalar_types[type].size;
  scalar_convert(type, SCALAR_F64, 1, number, &x);
  memcpy(&bits, number, size);
  if (isnan(x))
    text_printf(out, "0x%" PRIx64, bits);
  else
    text_printf(out, "%.*g", size == 2 ? 5 : size == 4 ? 9 : 17, x);
}

void net_write_constant(text *out, scalar_type type, const scalar_bits *c) {
  scalar_bits wide = {{0}};
  text_printf(out, "%s:", scalar_types[type].name);
  switch (scalar_types[type].kind) {
  case KIND_BOOL:
    text_string(out, c->b ? "true" : "false");
    break;
  case KIND_FLOAT:
    write_float(out, type, c);
    break;
  case KIND_COMPLEX:
    write_float(out, scalar_real_of(type), c);
    text_string(out, ",");
    write_float(out, scalar_real_of(type), c->bytes + scalar_types[type].size / 2);
    break;
  case KIND_SIGNED:
    scalar_convert(type, SCALAR_I64, 1, c, &wide);
    text_printf(out, "%" PRId64, wide.i64);
    break;
  case KIND_UNSIGNED:
    scalar_convert(type, SCALAR_U64, 1, c, &wide);
    text_printf(out, "%" PRIu64, wide.u64);
    break;
  }
}

// ---- arrays ---------------------------------------------------------------------------------

void net_write_array(text *out, size_t id, const net_array *array) {
  text_printf(out, "array a%zu %s %" PRIu64, id, scalar_types[array->type].name, array->count);
  text_printf(out, " %s", net_role_names[array->role]);
  if (array->role != NET_TEMPORARY)
    text_printf(out, " %" PRIu32, array->number);
  if (array->part_of)
    text_printf(out, " of a%" PRIu32 " from %" PRIu64, array->part_of - 1, array->part_at);
  size_t size = scalar_types[array->type].size;
  for (uint64_t i = 0; i < array->count && array->role == NET_TABLE; i++) {
    scalar_bits element = {{0}};
    memcpy(&element, (const char *)array->table + i * size, size);
    text_string(out, " ");
    net_write_constant(out, array->type, &element);
  }
  text_string(out, "\n");
}
