// Numbers as Futhark writes them, both ways.
//
//   12  0xff  0b101  1_000u8     -1.5  .5  5.  1e-3f32  0x1.8p3     1.5+2.0i  -2ic64
//   true  false                  f32.nan  -f64.inf  nan  inf        (parts of complex numbers, too)
//
// Printed numbers carry their type and are the shortest that read back exactly. Callers are in the
// C locale (value_read and value_write see to it): strtod and printf obey it.
#include "runtime/value_formats.h"

#include <math.h>

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

// ---- scanning ---------------------------------------------------------------------------------

static int digit_value(int c) {
  if (is_digit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

// Digits of a base, into the magnitude; returns what follows them.
static const char *scan_digits(const char *at, unsigned base, part *p) {
  for (; (unsigned)digit_value(*at) < base; at++)
    if (__builtin_mul_overflow(p->magnitude, (uint64_t)base, &p->magnitude) ||
        __builtin_add_overflow(p->magnitude, (uint64_t)digit_value(*at), &p->magnitude))
      p->overflow = true;
  return at;
}

// e+12 or p-3 if it is there, with digits.
static const char *scan_exponent(const char *at, char lower, bool *found) {
  *found = false;
  if ((*at | 32) != lower)
    return at;
  const char *digits = at + (at[1] == '+' || at[1] == '-' ? 2 : 1);
  if (!is_digit(*digits))
    return at;
  *found = true;
  while (is_digit(*digits))
    digits++;
  return digits;
}

// After 0x: ff or 1.8p3 (where the exponent is required, so that 0x1f32 is an integer only).
static const char *scan_hexadecimal(const char *at, part *p) {
  const char *end = scan_digits(at, 16, p);
  bool exponent, any = end > at;
  const char *fraction = end;
  if (*end == '.') {
    part ignored = {0};
    fraction = scan_digits(end + 1, 16, &ignored);
    any = any || fraction > end + 1;
  }
  const char *after = scan_exponent(fraction, 'p', &exponent);
  if (any && exponent) {
    p->form = PART_FLOAT;
    return after;
  }
  return end > at ? end : NULL;
}

static const char *scan_decimal(const char *at, part *p) {
  const char *end = scan_digits(at, 10, p);
  bool exponent, any = end > at;
  if (*end == '.') {
    const char *fraction = end + 1;
    while (is_digit(*fraction))
      fraction++;
    if (!any && fraction == end + 1)
      return NULL;
    any = true;
    p->form = PART_FLOAT;
    end = fraction;
  }
  if (!any)
    return NULL;
  end = scan_exponent(end, 'e', &exponent);
  if (exponent)
    p->form = PART_FLOAT;
  return end;
}

// nan inf f32.nan f64.inf ...; NULL if it is none of them.
static const char *scan_named(const char *at, part *p) {
  if (strncmp(at, "f32.", 4) == 0)
    p->named = SCALAR_F32;
  else if (strncmp(at, "f64.", 4) == 0)
    p->named = SCALAR_F64;
  at += p->named == SCALAR_COUNT ? 0 : 4;
  if (strncmp(at, "nan", 3) != 0 && strncmp(at, "inf", 3) != 0)
    return NULL;
  p->form = *at == 'n' ? PART_NAN : PART_INFINITE;
  return at + 3;
}

// What follows the part, or NULL if there is none.
static const char *scan_part(const char *at, part *p) {
  *p = (part){.named = SCALAR_COUNT};
  if (*at == '+' || *at == '-')
    p->negative = *at++ == '-';
  p->digits = at;
  if (!is_digit(*at) && *at != '.')
    return scan_named(at, p);
  if (at[0] == '0' && (at[1] | 32) == 'x')
    return scan_hexadecimal(at + 2, p);
  if (at[0] == '0' && (at[1] | 32) == 'b') {
    p->binary = true;
    const char *end = scan_digits(at + 2, 2, p);
    return end > at + 2 ? end : NULL;
  }
  return scan_decimal(at, p);
}

static bool scan_suffix(const char *at, number *n) {
  if (!*at)
    return true;
  scalar_type type = scalar_named(at, strlen(at));
  if (type == SCALAR_COUNT || type == SCALAR_BOOL || n->suffix != SCALAR_COUNT ||
      strcmp(at, "int") == 0)
    return false;
  n->suffix = type;
  return true;
}

static void remove_underscores(char *token) {
  char *to = token;
  for (const char *from = token; *from; from++)
    if (*from != '_')
      *to++ = *from;
  *to = 0;
}

bool number_scan(char *token, number *n) {
  *n = (number){.suffix = SCALAR_COUNT};
  if (strcmp(token, "true") == 0 || strcmp(token, "false") == 0) {
    n->truth = *token == 't';
    return true;
  }
  if (*token != '_' && strchr(token, '_'))
    remove_underscores(token);
  const char *at = scan_part(token, &n->re);
  if (!at)
    return false;
  n->form = n->re.form == PART_INTEGER ? NUMBER_INTEGER : NUMBER_FLOAT;
  n->suffix = n->re.named;
  if (*at == '+' || *at == '-') {
    n->form = NUMBER_COMPLEX;
    at = scan_part(at, &n->im);
    if (!at || *at != 'i')
      return false;
  } else if (at[0] == 'i' && (at[1] == 0 || at[1] == 'c')) {
    n->form = NUMBER_COMPLEX;
    n->im = n->re;
    n->re = (part){.digits = "0", .named = SCALAR_COUNT};
  }
  if (n->form != NUMBER_COMPLEX)
    return scan_suffix(at, n);
  bool named = n->re.named != SCALAR_COUNT || n->im.named != SCALAR_COUNT;
  return !named && scan_suffix(at + 1, n) &&
         (n->suffix == SCALAR_COUNT || scalar_types[n->suffix].kind == KIND_COMPLEX);
}

// Infinite where the digits are not: out of range.
static double part_f64(const part *p) {
  double value = p->form == PART_NAN        ? (double)NAN
                 : p->form == PART_INFINITE ? (double)INFINITY
                 : p->binary ? (p->overflow ? (double)INFINITY : (double)p->magnitude)
                             : strtod(p->digits, NULL);
  return p->negative ? -value : value;
}

// Rounded once, from the digits: going through double would round twice.
static float part_f32(const part *p) {
  if (p->form == PART_NAN || p->form == PART_INFINITE)
    return (float)part_f64(p);
  float value = !p->binary ? strtof(p->digits, NULL) : p->overflow ? INFINITY : (float)p->magnitude;
  return p->negative ? -value : value;
}

// ---- from number to element -------------------------------------------------------------------

const char *number_range(scalar_type type) {
  static const char *const ranges[SCALAR_COUNT] = {
      [SCALAR_I8] = "-128 to 127",
      [SCALAR_I16] = "-32768 to 32767",
      [SCALAR_I32] = "-2147483648 to 2147483647",
      [SCALAR_I64] = "-9223372036854775808 to 9223372036854775807",
      [SCALAR_U8] = "0 to 255",
      [SCALAR_U16] = "0 to 65535",
      [SCALAR_U32] = "0 to 4294967295",
      [SCALAR_U64] = "0 to 18446744073709551615",
      [SCALAR_F32] = "up to 3.4028235e38",
      [SCALAR_F64] = "up to 1.7976931348623157e308",
      [SCALAR_C64] = "parts up to 3.4028235e38",
      [SCALAR_C128] = "parts up to 1.7976931348623157e308",
  };
  return ranges[type];
}

static bool part_in_range(const part *p, double value) {
  return p->form == PART_INFINITE || !isinf(value);
}

static void put_integer(void *to, scalar_type type, bool negative, uint64_t magnitude) {
  uint64_t bits = negative ? 0 - magnitude : magnitude;
  uint8_t bits8 = (uint8_t)bits;
  uint16_t bits16 = (uint16_t)bits;
  uint32_t bits32 = (uint32_t)bits;
  switch (scalar_types[type].size) {
  case 1:
    memcpy(to, &bits8, 1);
    break;
  case 2:
    memcpy(to, &bits16, 2);
    break;
  case 4:
    memcpy(to, &bits32, 4);
    break;
  default:
    memcpy(to, &bits, 8);
    break;
  }
}

bool number_put(void *to, scalar_type type, const number *n) {
  float re32, im32;
  double re64, im64;
  switch (scalar_types[type].kind) {
  case KIND_BOOL:
    memcpy(to, &n->truth, 1);
    return true;
  case KIND_SIGNED:
  case KIND_UNSIGNED:
    put_integer(to, type, n->re.negative, n->re.magnitude);
    return !n->re.overflow && scalar_holds(type, n->re.negative, n->re.magnitude);
  case KIND_FLOAT:
  case KIND_COMPLEX:
    break;
  }
  bool has_im = n->form == NUMBER_COMPLEX;
  if (type == SCALAR_F32 || type == SCALAR_C64) {
    re32 = part_f32(&n->re);
    im32 = has_im ? part_f32(&n->im) : 0;
    memcpy(to, &re32, 4);
    if (type == SCALAR_C64)
      memcpy((char *)to + 4, &im32, 4);
    return part_in_range(&n->re, (double)re32) && (!has_im || part_in_range(&n->im, (double)im32));
  }
  re64 = part_f64(&n->re);
  im64 = has_im ? part_f64(&n->im) : 0;
  memcpy(to, &re64, 8);
  if (type == SCALAR_C128)
    memcpy((char *)to + 8, &im64, 8);
  return part_in_range(&n->re, re64) && (!has_im || part_in_range(&n->im, im64));
}

bool number_suits(const number *n, scalar_type type) {
  if (n->suffix != SCALAR_COUNT && n->suffix != type)
    return false;
  switch (scalar_types[type].kind) {
  case KIND_BOOL:
    return n->form == NUMBER_BOOL;
  case KIND_SIGNED:
  case KIND_UNSIGNED:
    return n->form == NUMBER_INTEGER;
  case KIND_FLOAT:
    return n->form == NUMBER_INTEGER || n->form == NUMBER_FLOAT;
  case KIND_COMPLEX:
    return n->form != NUMBER_BOOL;
  }
  return false;
}

scalar_type number_type(const number *n) {
  static const scalar_type types[] = {[NUMBER_BOOL] = SCALAR_BOOL,
                                      [NUMBER_INTEGER] = SCALAR_I64,
                                      [NUMBER_FLOAT] = SCALAR_F64,
                                      [NUMBER_COMPLEX] = SCALAR_C128};
  return n->suffix != SCALAR_COUNT ? n->suffix : types[n->form];
}

// ---- printing ---------------------------------------------------------------------------------

// value = 0.d1 d2 d3 ... x 10^(point), without trailing zeros.
typedef struct decimal {
  char digits[20];
  int count, point;
} decimal;

static bool reads_back(const char *string, double value, bool single) {
  return single ? strtof(string, NULL) == (float)value : strtod(string, NULL) == value;
}

// The fewest digits that read back. A number of at most 15 (6) digits survives the way through a
// normal double (float), so that the search can start there; a subnormal may need one digit only.
static decimal shortest(double value, bool single) {
  int precision = fabs(value) < (single ? 0x1p-126 : 0x1p-1022) ? 1 : single ? 6 : 15;
  int most = single ? 9 : 17;
  char string[40];
  do
    snprintf(string, sizeof string, "%.*e", precision - 1, value);
  while (precision++ < most && !reads_back(string, value, single));
  decimal d = {.count = 0};
  const char *c = string;
  for (; *c && *c != 'e'; c++)
    if (is_digit(*c) && d.count < (int)sizeof d.digits)
      d.digits[d.count++] = *c;
  d.point = (int)strtol(c + 1, NULL, 10) + 1;
  while (d.count > 1 && d.digits[d.count - 1] == '0')
    d.count--;
  return d;
}

static char *put_zeros(char *to, int count) {
  for (; count > 0; count--)
    *to++ = '0';
  return to;
}

static char *put_digits(char *to, const decimal *d, int from, int to_index) {
  for (int i = from; i < to_index; i++)
    *to++ = i < d->count ? d->digits[i] : '0';
  return to;
}

// 100.0   0.00125   1.5e300: without an exponent where that takes few zeros, always with a point
// or an exponent.
static char *put_finite(char *to, double value, bool single) {
  if (signbit(value))
    *to++ = '-';
  decimal d = value == 0 ? (decimal){"0", 1, 1} : shortest(fabs(value), single);
  if (d.point > 16 || d.point < -4) {
    to = put_digits(to, &d, 0, 1);
    *to++ = '.';
    to = put_digits(to, &d, 1, d.count > 1 ? d.count : 2);
    return to + snprintf(to, 8, "e%d", d.point - 1);
  }
  if (d.point <= 0) {
    to = put_zeros(to, 1);
    *to++ = '.';
    to = put_zeros(to, -d.point);
    return put_digits(to, &d, 0, d.count);
  }
  to = put_digits(to, &d, 0, d.point);
  *to++ = '.';
  return put_digits(to, &d, d.point, d.count > d.point ? d.count : d.point + 1);
}

static char *put_text(char *to, const char *string) {
  size_t length = strlen(string);
  memcpy(to, string, length);
  return to + length;
}

// Real numbers: 1.5f32  -f64.inf  f32.nan.
static char *put_real(char *to, double value, scalar_type type) {
  const char *name = scalar_types[type].name;
  if (isfinite(value))
    return put_text(put_finite(to, value, type == SCALAR_F32), name);
  if (isinf(value) && value < 0)
    *to++ = '-';
  to = put_text(to, name);
  return put_text(to, isnan(value) ? ".nan" : ".inf");
}

// A part of a complex number: 1.5  nan  -inf.
static char *put_part(char *to, double value, bool single) {
  if (isfinite(value))
    return put_finite(to, value, single);
  if (isnan(value))
    return put_text(to, "nan");
  return put_text(to, value < 0 ? "-inf" : "inf");
}

static char *put_complex(char *to, double re, double im, scalar_type type) {
  bool single = type == SCALAR_C64;
  to = put_part(to, re, single);
  if (!signbit(im) || isnan(im))
    *to++ = '+';
  to = put_part(to, im, single);
  *to++ = 'i';
  return put_text(to, scalar_types[type].name);
}

static char *put_whole(char *to, bool negative, uint64_t magnitude, scalar_type type) {
  char digits[20];
  int count = 0;
  do
    digits[count++] = (char)('0' + magnitude % 10);
  while ((magnitude /= 10) > 0);
  if (negative)
    *to++ = '-';
  while (count > 0)
    *to++ = digits[--count];
  return put_text(to, scalar_types[type].name);
}

static char *put_signed(char *to, int64_t value, scalar_type type) {
  return put_whole(to, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, type);
}

static char *put_element(char *to, scalar_type type, const scalar_bits *v) {
  switch (type) {
  case SCALAR_BOOL:
    return put_text(to, v->bytes[0] ? "true" : "false");
  case SCALAR_I8:
    return put_signed(to, v->i8, type);
  case SCALAR_I16:
    return put_signed(to, v->i16, type);
  case SCALAR_I32:
    return put_signed(to, v->i32, type);
  case SCALAR_I64:
    return put_signed(to, v->i64, type);
  case SCALAR_U8:
    return put_whole(to, false, v->u8, type);
  case SCALAR_U16:
    return put_whole(to, false, v->u16, type);
  case SCALAR_U32:
    return put_whole(to, false, v->u32, type);
  case SCALAR_U64:
    return put_whole(to, false, v->u64, type);
  case SCALAR_F32:
    return put_real(to, (double)v->f32, type);
  case SCALAR_F64:
    return put_real(to, v->f64, type);
  case SCALAR_C64:
    return put_complex(to, (double)v->c64[0], (double)v->c64[1], type);
  case SCALAR_C128:
    return put_complex(to, v->c128[0], v->c128[1], type);
  case SCALAR_COUNT:
    break;
  }
  return to;
}

size_t text_of_element(char out[ELEMENT_TEXT], scalar_type type, const void *element) {
  scalar_bits bits = {{0}};
  memcpy(bits.bytes, element, scalar_types[type].size);
  return (size_t)(put_element(out, type, &bits) - out);
}
