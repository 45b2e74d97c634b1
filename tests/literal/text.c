// The text of a random program.
#include "tests/literal/tree.h"

static const char *const reorders[REORDERS] = {"reverse",       "bitrev",  "gray",
                                               "rotate_bits 1", "shuffle", "flip_bits %d"};

// What the kinds with children look like: %1 %2 %3 the children, %v and %w the variables first and
// second as ints, %a first as an array, %b the base, %n the number.
static const char *const looks[KINDS] = {
    [NUMBER] = "%n",
    [SCALAR] = "%v",
    [ADD] = "(%1 + %2)",
    [SUBTRACT] = "(%1 - %2)",
    [XOR] = "(%1 xor %2)",
    [TIMES] = "(%1 * %n)",
    [CHOOSE] = "(let c = %1 in if c <= %2 then %3 else c)",
    [MINIMUM] = "(min %1 %2)",
    [SUM] = "(sum (map (\\%v -> %2 + %1) (iota %s)))",
    [TOTAL] = "(sum [%2 - %1 | %v <- 1..%s])",
    [CALL_SCALAR] = "(h%f %1 %2)",
    [ELEMENT] = "%a[%n % length %a]",
    [LET_SCALAR] = "(let %v = %1 in %2)",
    [APPLY_LAMBDA] = "((\\%v -> %2) %1)",
    [ARRAY] = "%a",
    [TAKE] = "take (length %b) %a",
    [MAP] = "map (\\%v -> %1) (%2)",
    [MAPI] = "mapi (\\%v %w -> %1) (%2)",
    [ZIP_WITH] = "zip_with (\\%v %w -> %3) (%1) (%2)",
    [PARM] = "halves %n (\\%a -> %1) (%2)",
    [PARMI] = "halves_i %n (\\%w %a -> %1) (%2)",
    [COLUMN] = "pairs %n (\\[%v, %w] -> [%1, %3]) (%2)",
    [EXCHANGE] = "pairs %n (\\[%v, %w] -> if %1 <= %3 then [%v, %w] else [%w, %v]) (%2)",
    [ROWS] = "join (map (\\%a -> %1) (split (cut %n %b) (%2)))",
    [COLUMNS] = "join (transpose (map (\\%a -> %1) (transpose (split (cut %n %b) (%2)))))",
    [LET_ARRAY] = "(let %a = %1 in %2)",
    [LET_FUNCTION] = "(let f%v %a = %1 in f%v (f%v (%2)))",
    [CALL] = "g%f %1 (%2)",
    [IOTA] = "iota (length %b)",
    [REPLICATE] = "zip_with (-) (replicate (length %b) %1) (%2)",
    [SORT] = "sort (%2)",
    [SCAN] = "scan (+) (%2)",
    [PADDED] = "(let k = %n % (length %b + 1); cs = %2 in concat (take k ((\\%a -> %1) (extended "
               "%3 (take k cs)))) (drop k cs))",
    [STRICT] = "join (split 0 (%2))",
    [BY_SIZE] = "(if length %b > 4 then %1 else %2)",
    [PAIRS] =
        "(let (p, q) = unzip (halves %n reverse (zip (%1) (%2))) in zip_with (\\%v %w -> %3) q p)",
    [WHERE_SCALAR] = "(let %v = %1 in %2)",
    [COMPREHENSION] = "[%1 | %v <- %2]",
    [TREE] = "tree %n (\\%a -> %1) (%2)",
    [REPEAT] = "iter (%n % 3) (\\%a -> %1) (%2)",
    [ZIP_ROWS] = "(let r = split (cut %n %b) (%2) in join (map (\\(%a, ys) -> zip_with (-) ys "
                 "(%1)) (zip r (reverse r))))",
    [ARGSORT] = "argsort (%2)",
};

int64_t literal_sum_length(const node *n) { return n->number % 8 == 0 ? 80 : n->number % 4; }

static void write_node(text *to, const node *n);

static void write_part(text *to, const node *n, char part) {
  switch (part) {
  case '1':
  case '2':
  case '3':
    write_node(to, n->child[part - '1']);
    break;
  case 'v':
    text_printf(to, "v%d", n->first);
    break;
  case 'w':
    text_printf(to, "v%d", n->second);
    break;
  case 'a':
    text_printf(to, "a%d", n->first);
    break;
  case 'b':
    text_printf(to, "a%d", n->base);
    break;
  case 'f':
    text_printf(to, "%d", n->first);
    break;
  case 'n':
    text_printf(to, "%d", (int)n->number);
    break;
  case 's':
    text_printf(to, "%d", (int)literal_sum_length(n));
    break;
  default:
    text_printf(to, "%%%c", part);
  }
}

static void write_node(text *to, const node *n) {
  if (n->kind == REORDER) {
    int64_t which = n->number % REORDERS;
    if (which == FLIP)
      text_printf(to, "flip_bits (%d %% length a%d) (", (int)n->number, n->base);
    else
      text_printf(to, "%s (", reorders[which]);
    write_node(to, n->child[1]);
    text_printf(to, ")");
    return;
  }
  for (const char *p = looks[n->kind]; *p != 0; p++)
    if (*p == '%')
      write_part(to, n, *++p);
    else
      text_add(to, p, 1);
}

static const char prelude[] =
    "halves k f xs = if length xs == 1 then xs else parm (1 + k % (length xs - 1)) f xs\n"
    "halves_i k f xs = if length xs == 1 then f 0 xs else parmi (1 + k % (length xs - 1)) f xs\n"
    "pairs k f xs = if length xs == 1 then xs else column (1 + k % (length xs - 1)) f xs\n"
    "cut k xs = k % (log2 (length xs) + 1)\n"
    "tree k f xs = let ys = f xs in if length xs == 1 then ys else halves k (tree k f) ys\n";

static const char entries[] =
    "alone : int -> [2^n]int -> [2^n]int\n"
    "alone s xs = g3 s xs\n"
    "rows : int -> [m][2^n]int -> ([m][2^n]int, [m][2^n]int)\n"
    "rows s xss = (map (g3 s) xss, mapi (\\i xs -> g3 (s + i) (g3 s xs)) xss)\n"
    "both : int -> [2^n]int -> [m][2^n]int -> ([2^n]int, [m][2^n]int, [m][2^n]int)\n"
    "both s xs yss = (g3 s xs, map (g3 s) yss, map (\\ys -> g3 xs[0] (zip_with (+) xs (g3 ys[0] "
    "ys))) yss)\n";

void literal_write(literal_program *p) {
  text *to = &p->text;
  text_string(to, prelude);
  for (int i = 0; i < FUNCTIONS; i++) {
    const function *h = &p->scalars[i];
    text_printf(to, "h%d v%d v%d = ", i, h->first, h->second);
    write_node(to, h->body);
    text_string(to, "\n");
  }
  for (int i = 0; i < FUNCTIONS; i++) {
    const function *g = &p->arrays[i];
    text_printf(to, "g%d v%d a%d = ", i, g->first, g->second);
    write_node(to, g->body);
    text_string(to, "\n");
  }
  text_string(to, entries);
}

const char *literal_program_text(const literal_program *p) { return text_content(&p->text); }
