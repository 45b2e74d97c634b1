// Numbers as Futhark writes them, both ways.
//
//   12  0xff  0b101  1_000u8     -1.5  .5  5.  1e-3f32  0x1.8p3     1.5+2.0i  -2ic64
//   true  False                  f32.nan  -f64.inf  NaN  Infinity   (parts of complex numbers, too)
//   -f32.nan  f64.nan(0x1)       a NaN with its sign; with its fraction, where that is not the usual
//                                one (the highest bit alone); C's strtod reads nan(0x1), too
//
// Printed numbers carry their type and are the shortest that read back exactly. Callers are in the
// C locale (value_read and value_write see to it): strtod and printf obey it.
#include "runtime/values/formats.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <strings.h>

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

// ---- scanning ---------------------------------------------------------------------------------

static int digit_value(int c) {
  if (is_digit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

// Adds digits of a base to the part's; returns what follows them.
static const char *scan_digits(const char *at, unsigned base, part *p) {
  for (; (unsigned)digit_value(*at) < base; at++)
    if (__builtin_mul_overflow(p->digits, (uint64_t)base, &p->digits) ||
        __builtin_add_overflow(p->digits, (uint64_t)digit_value(*at), &p->digits))
      p->overflow = true;
  return at;
}

// e+12 or p-3 if it is there, with digits; it makes the part a float.
static const char *scan_exponent(const char *at, char lower, part *p) {
  enum { CLAMP = 100000 };
  if ((*at | 32) != lower)
    return at;
  const char *digit = at + (at[1] == '+' || at[1] == '-' ? 2 : 1);
  if (!is_digit(*digit))
    return at;
  int exponent = 0;
  for (; is_digit(*digit); digit++)
    exponent = exponent < CLAMP ? 10 * exponent + (*digit - '0') : exponent;
  exponent = exponent < CLAMP ? exponent : CLAMP;
  p->exponent += at[1] == '-' ? -exponent : exponent;
  p->form = PART_FLOAT;
  return digit;
}

// After 0x: ff or 1.8p3 (where the exponent is required, so that 0x1f32 is an integer only).
static const char *scan_hexadecimal(const char *at, part *p) {
  p->base = 16;
  const char *whole = scan_digits(at, 16, p), *fraction = whole;
  part ignored = {0};
  if (*whole == '.')
    fraction = scan_digits(whole + 1, 16, &ignored);
  if (whole == at && fraction <= whole + 1)
    return NULL;
  const char *end = scan_exponent(fraction, 'p', p);
  if (p->form == PART_FLOAT)
    return end;
  return whole > at ? whole : NULL;
}

static const char *scan_decimal(const char *at, part *p) {
  p->base = 10;
  const char *whole = scan_digits(at, 10, p), *fraction = whole;
  if (*whole == '.') {
    p->form = PART_FLOAT;
    fraction = scan_digits(whole + 1, 10, p);
    p->exponent = (int)(whole + 1 - fraction);
  }
  if (whole == at && fraction <= whole + 1)
    return NULL;
  return scan_exponent(fraction, 'e', p);
}

// What follows the fraction of a NaN, "(0x1)", if it is there. NULL: it is none.
static const char *scan_fraction(const char *at, part *p) {
  if (*at != '(')
    return at;
  if (at[1] != '0' || (at[2] | 32) != 'x')
    return NULL;
  const char *end = scan_digits(at + 3, 16, p);
  return *end == ')' && (p->digits || p->overflow) ? end + 1 : NULL;
}

// nan inf Infinity f32.nan f64.inf nan(0x1) ...; NULL if it is none of them.
static const char *scan_named(const char *at, part *p) {
  for (scalar_type t = SCALAR_F16; t <= SCALAR_F64; t++) {
    size_t length = strlen(scalar_types[t].name);
    if (strncmp(at, scalar_types[t].name, length) != 0 || at[length] != '.')
      continue;
    p->named = t;
    at += length + 1;
    break;
  }
  p->form = strncasecmp(at, "nan", 3) == 0 ? PART_NAN : PART_INFINITE;
  if (p->form == PART_NAN)
    return scan_fraction(at + 3, p);
  return strncasecmp(at, "infinity", 8) == 0 ? at + 8
         : strncasecmp(at, "inf", 3) == 0    ? at + 3
                                             : NULL;
}

// What follows the part, or NULL if there is none.
static const char *scan_part(const char *at, part *p) {
  *p = (part){.named = SCALAR_COUNT};
  if (*at == '+' || *at == '-')
    p->negative = *at++ == '-';
  p->text = at;
  if (!is_digit(*at) && *at != '.')
    return scan_named(at, p);
  if (at[0] == '0' && (at[1] | 32) == 'x')
    return scan_hexadecimal(at + 2, p);
  if (at[0] == '0' && (at[1] | 32) == 'b' && is_digit(at[2])) {  // 0bf16 is a 0
    p->base = 2;
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
  if (isalpha((unsigned char)*token) &&
      (!strcasecmp(token, "true") || !strcasecmp(token, "false"))) {
    n->truth = (*token | 32) == 't';
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
    n->re = (part){.base = 10, .text = "0", .named = SCALAR_COUNT};
  }
  if (n->form != NUMBER_COMPLEX)
    return scan_suffix(at, n);
  bool named = n->re.named != SCALAR_COUNT || n->im.named != SCALAR_COUNT;
  return !named && scan_suffix(at + 1, n) &&
         (n->suffix == SCALAR_COUNT || scalar_types[n->suffix].kind == KIND_COMPLEX);
}

// ---- from digits to floats --------------------------------------------------------------------

// digits x 10^exponent where one exact product or quotient gives it, correctly rounded (Clinger,
// "How to read floating point numbers accurately", 1990): most numbers that people write.
static bool exact_f64(uint64_t digits, int exponent, double *out) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (FLT_EVAL_METHOD != 0 || digits > UINT64_C(1) << 53 || exponent < -22 || exponent > 22)
    return false;
  double whole = (double)digits;
  *out = exponent < 0 ? whole / powers[-exponent] : whole * powers[exponent];
  return true;
}

// Of the floating-point types.
static const struct {
  int places;    // after the first digit: as many at least as tell a number from its neighbours
  int bits;      // of the fraction and the 1 before it
  double least;  // that has all of them
} precisions[SCALAR_COUNT] = {
    [SCALAR_F16] = {4, 11, 0x1p-14},
    [SCALAR_BF16] = {8, 8, 0x1p-126},
    [SCALAR_F32] = {8, 24, 0x1p-126},
    [SCALAR_F64] = {16, 53, 0x1p-1022},
};

static double round_to(double value, scalar_type type) {
  scalar_bits narrow = scalar_of_double(type, value);
  return scalar_as_double(type, &narrow);
}

// The same as a number of a type. Rounding the double once more is right unless it lies just in the
// middle of two such numbers (the bits that go are 100...0), or the number is subnormal.
static bool exact_value(uint64_t digits, int exponent, scalar_type type, double *out) {
  uint64_t bits, unit = UINT64_C(1) << (DBL_MANT_DIG - precisions[type].bits);
  if (!exact_f64(digits, exponent, out))
    return false;
  if (type == SCALAR_F64)
    return true;
  if (*out < precisions[type].least && *out != 0)
    return false;
  memcpy(&bits, out, sizeof bits);
  *out = round_to(*out, type);
  return (bits & (unit - 1)) != unit / 2;
}

// Rounded once, from the digits: going through double would round twice.
static double parse_value(const char *string, scalar_type type) {
  scalar_bits narrow = scalar_read(type, string);
  return scalar_as_double(type, &narrow);
}

static double integer_value(uint64_t digits, scalar_type type) {
  scalar_bits narrow = {{0}};
  scalar_convert(SCALAR_U64, type, 1, &digits, &narrow);
  return scalar_as_double(type, &narrow);
}

// As a number of a type. Infinite where the digits are not: out of range.
static double part_value(const part *p, scalar_type type) {
  double value;
  if (p->form == PART_INFINITE)
    value = (double)INFINITY;
  else if (p->base == 2)
    value = p->overflow ? (double)INFINITY : integer_value(p->digits, type);
  else if (p->base != 10 || p->overflow || !exact_value(p->digits, p->exponent, type, &value))
    value = parse_value(p->text, type);
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
      [SCALAR_F16] = "up to 65504.0",
      [SCALAR_BF16] = "up to 3.39e38",
      [SCALAR_F32] = "up to 3.4028235e38",
      [SCALAR_F64] = "up to 1.7976931348623157e308",
      [SCALAR_C64] = "parts up to 3.4028235e38",
      [SCALAR_C128] = "parts up to 1.7976931348623157e308",
  };
  return ranges[type];
}

// A NaN is its fraction, whose highest bit alone is the usual NaN, below ones and its sign.
static int fraction_bits(scalar_type type) { return precisions[type].bits - 1; }

static uint64_t usual_fraction(scalar_type type) {
  return UINT64_C(1) << (fraction_bits(type) - 1);
}

// Conversions would make it a quiet one.
static bool store_nan(void *to, scalar_type type, const part *p) {
  int width = 8 * (int)scalar_types[type].size;
  uint64_t fraction = p->digits ? p->digits : usual_fraction(type);
  uint64_t bits = UINT64_MAX << fraction_bits(type) | fraction;
  bits ^= (uint64_t)!p->negative << (width - 1);
  memcpy(to, &bits, scalar_types[type].size);
  return !p->overflow && !(fraction >> fraction_bits(type));
}

// The part of a number that begins at `to`; whether it is in range.
static bool store_real_part(void *to, scalar_type type, const part *p) {
  if (p->form == PART_NAN)
    return store_nan(to, type, p);
  double value = part_value(p, type);
  scalar_bits bits = scalar_of_double(type, value);
  memcpy(to, &bits, scalar_types[type].size);
  return p->form == PART_INFINITE || !isinf(value);
}

bool number_store(void *to, scalar_type type, const number *n) {
  static const part zero = {.base = 10, .text = "0", .named = SCALAR_COUNT};
  scalar_type real = scalar_real_of(type);
  uint64_t bits;
  switch (scalar_types[type].kind) {
  case KIND_BOOL:
    memcpy(to, &n->truth, 1);
    return true;
  case KIND_SIGNED:
  case KIND_UNSIGNED:
    bits = n->re.negative ? 0 - n->re.digits : n->re.digits;
    memcpy(to, &bits, scalar_types[type].size);
    return !n->re.overflow && scalar_holds(type, n->re.negative, n->re.digits);
  case KIND_FLOAT:
    return store_real_part(to, type, &n->re);
  case KIND_COMPLEX:
    break;
  }
  char *imaginary = (char *)to + scalar_types[real].size;
  bool good = store_real_part(to, real, &n->re);
  return store_real_part(imaginary, real, n->form == NUMBER_COMPLEX ? &n->im : &zero) && good;
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

static char *put_u64(char *to, uint64_t value) {
  char digits[20];
  int count = 0;
  do
    digits[count++] = (char)('0' + value % 10);
  while ((value /= 10) > 0);
  while (count > 0)
    *to++ = digits[--count];
  return to;
}

static bool reads_back(uint64_t digits, int exponent, double value, scalar_type type) {
  char string[40];
  double read;
  if (exact_value(digits, exponent, type, &read))
    return read == value;
  snprintf(put_u64(string, digits), 12, "e%d", exponent);
  return parse_value(string, type) == value;
}

// All digits that are ever needed of a positive number: value = digits x 10^exponent, nearly.
static uint64_t enough_digits(double value, int places, int *exponent) {
  char string[40];
  snprintf(string, sizeof string, "%.*e", places, value);  // d.dddddddde+xx
  uint64_t digits = (uint64_t)(string[0] - '0');
  for (int i = 0; i < places; i++)
    digits = 10 * digits + (uint64_t)(string[2 + i] - '0');
  *exponent = (int)strtol(string + 3 + places, NULL, 10) - places;
  return digits;
}

// The fewest digits that read back: all of them, rounded to 1, 2, ... until the result reads as the
// same number. What is farther from the digits than half a unit in the last place of any number of
// this size need not be tried. A last digit 5 may itself be rounded: both neighbours are tried.
static uint64_t shortest_digits(double value, scalar_type type, int *exponent) {
  int dropped = precisions[type].places;
  uint64_t digits = enough_digits(value, dropped, exponent), unit = 1;
  bool subnormal = value < precisions[type].least;
  uint64_t reach = subnormal ? UINT64_MAX : (digits >> precisions[type].bits) + 2;
  for (int i = 0; i < dropped; i++)
    unit *= 10;
  for (; unit > 1; unit /= 10, dropped--) {
    uint64_t below = digits / unit, rest = digits % unit;
    bool up = rest >= unit / 2 && unit - rest <= reach, down = rest <= unit / 2 && rest <= reach;
    bool above = up && reads_back(below + 1, *exponent + dropped, value, type);
    if (!above && !(down && reads_back(below, *exponent + dropped, value, type)))
      continue;
    *exponent += dropped;
    return above ? below + 1 : below;
  }
  return digits;
}

// value = 0.d1 d2 d3 ... x 10^point, without trailing zeros.
typedef struct decimal {
  char digits[20];
  int count, point;
} decimal;

static decimal make_decimal(double value, scalar_type type) {
  int exponent;
  decimal d;
  d.count = (int)(put_u64(d.digits, shortest_digits(value, type, &exponent)) - d.digits);
  d.point = exponent + d.count;
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
static char *put_finite(char *to, double value, scalar_type type) {
  if (signbit(value))
    *to++ = '-';
  decimal d = value == 0 ? (decimal){"0", 1, 1} : make_decimal(fabs(value), type);
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

static bool is_negative(const void *element, scalar_type type) {
  return ((const signed char *)element)[scalar_types[type].size - 1] < 0;  // little-endian
}

// 1.5  -f64.inf  nan(0x1); without the type of a finite number, and in complex numbers without any.
static char *put_part(char *to, const void *element, scalar_type type, bool typed) {
  scalar_bits bits = {{0}};
  double value;
  memcpy(bits.bytes, element, scalar_types[type].size);
  scalar_convert(type, SCALAR_F64, 1, bits.bytes, &value);
  if (isfinite(value))
    return put_finite(to, value, type);
  if (is_negative(element, type))
    *to++ = '-';
  if (typed) {
    to = put_text(to, scalar_types[type].name);
    *to++ = '.';
  }
  uint64_t fraction = bits.u64 & ((UINT64_C(1) << fraction_bits(type)) - 1);
  to = put_text(to, fraction ? "nan" : "inf");
  if (fraction && fraction != usual_fraction(type))
    to += snprintf(to, 24, "(0x%llx)", (unsigned long long)fraction);
  return to;
}

static char *put_integer(char *to, scalar_type type, uint64_t bits) {
  int unused = 64 - 8 * (int)scalar_types[type].size;
  if (scalar_types[type].kind == KIND_SIGNED && (int64_t)(bits << unused) < 0) {
    *to++ = '-';
    bits = (0 - bits) << unused >> unused;
  }
  return put_u64(to, bits);
}

size_t number_print(char out[ELEMENT_TEXT], scalar_type type, const void *element, bool typed) {
  const scalar_row *row = &scalar_types[type];
  scalar_type real = scalar_real_of(type);
  const char *imaginary = (const char *)element + scalar_types[real].size;
  scalar_bits bits = {{0}};
  char *to = out;
  switch (row->kind) {
  case KIND_BOOL:
    return (size_t)(put_text(to, *(const char *)element ? "true" : "false") - out);
  case KIND_SIGNED:
  case KIND_UNSIGNED:
    memcpy(bits.bytes, element, row->size);
    to = put_integer(to, type, bits.u64);
    break;
  case KIND_FLOAT:
    to = put_part(to, element, type, typed);
    typed = typed && is_digit(out[out[0] == '-']);  // else its type is there
    break;
  case KIND_COMPLEX:
    to = put_part(to, element, real, false);
    if (!is_negative(imaginary, real))
      *to++ = '+';
    to = put_part(to, imaginary, real, false);
    *to++ = 'i';
    break;
  }
  return (size_t)(put_text(to, typed ? row->name : "") - out);
}
