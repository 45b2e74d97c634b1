// Arrays that pass from shares to others, and indices that begin with their share. See shares.h.
#include "fusion/shares/sharing.h"

typedef struct forms {
  f2_affine rows;  // as many as there are
  f2_space span;
} forms;

static bool add_form(forms *f, uint64_t mask, bool constant) {
  if (!f2_space_insert(&f->span, mask))
    return false;
  f->rows.c |= (uint64_t)constant << f->rows.a.rows;
  f->rows.a.row[f->rows.a.rows++] = mask;
  return true;
}

// Those of `of` that are independent of `known`.
static f2_affine completing(f2_space known, f2_affine of) {
  forms f = {{f2_zero(0, of.a.columns), 0}, known};
  for (int i = 0; i < of.a.rows; i++)
    add_form(&f, of.a.row[i], f2_bit(of.c, i));
  return f.rows;
}

static f2_space row_space(f2_affine of) { return f2_span(of.a.columns, of.a.rows, of.a.row); }

f2_affine sharing_stack(f2_affine low, f2_affine high) {
  for (int i = 0; i < high.a.rows; i++) {
    low.c |= (uint64_t)f2_bit(high.c, i) << low.a.rows;
    low.a.row[low.a.rows++] = high.a.row[i];
  }
  return low;
}

f2_affine sharing_rest(f2_space known) { return completing(known, f2_affine_identity(known.n)); }

f2_affine sharing_coordinates(f2_affine number) {
  return sharing_stack(sharing_rest(row_space(number)), number);
}

// The map for which map(from(x)) = to(x), where the rows of both are bases of one space of forms.
static f2_affine change_of_forms(f2_affine from, f2_affine to) {
  f2_affine map = {f2_zero(to.a.rows, from.a.rows), 0};
  for (int i = 0; i < to.a.rows; i++) {
    ensure(f2_coordinates(from.a.rows, from.a.row, to.a.row[i], &map.a.row[i]));
    map.c |= (uint64_t)(f2_bit(to.c, i) ^ f2_dot(map.a.row[i], from.c)) << i;
  }
  return map;
}

passage sharing_passage(f2_affine writer, f2_affine reader) {
  f2_affine out = completing(row_space(writer), reader), in = completing(row_space(reader), writer);
  f2_affine from = sharing_stack(out, writer), to = sharing_stack(in, reader);
  f2_affine rest = sharing_rest(row_space(from));
  return (passage){sharing_stack(rest, from), sharing_stack(rest, to), rest.a.rows,
                   change_of_forms(from, to)};
}

f2_affine sharing_number(f2_space v, f2_affine before) {
  f2_space all = f2_space_orthogonal(v), known = f2_space_zero(v.n);
  f2_affine number = {f2_zero(before.a.rows, v.n), 0};
  bool kept[F2_MAX] = {false};
  for (int i = 0; i < before.a.rows; i++)
    if (f2_space_has(all, before.a.row[i]) && f2_space_insert(&known, before.a.row[i])) {
      number.a.row[i] = before.a.row[i];
      number.c |= (uint64_t)f2_bit(before.c, i) << i;
      kept[i] = true;
    }
  for (int i = 0, k = 0; i < before.a.rows; i++) {
    while (!kept[i] && !f2_space_insert(&known, all.basis[k]))
      k++;
    if (!kept[i])
      number.a.row[i] = all.basis[k];
  }
  return number;
}
