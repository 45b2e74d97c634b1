// The table of what people of other languages write. See hints.h.
#include "lang/syntax/hints.h"
#include "parser.h"

#define DEFINITION                                                                                 \
  "a definition is its name, patterns and =; types stand in a signature above it: main : "         \
  "[n]i32 -> [n]i32, and then main xs = map (+ 1) xs"
#define C_FUNCTION                                                                                 \
  "there are no braces, no return and no semicolons: write add x y = x + y, with its types in a "  \
  "signature above it: add : int -> int -> int (the last is the type of the result)"
#define COMMENT "a comment begins with -- and ends with the line"
#define NO_STATEMENT                                                                               \
  "there are no statements, and values do not change: name each step with let y = ... in ..."
#define NO_LOOP                                                                                    \
  "there are no loops: sum xs adds all elements, map f xs works on each, reduce op xs "            \
  "combines them, iter k f x applies f k times, and iteri with the number of the round"
#define NO_CASE                                                                                    \
  "there is no case: write one equation for each pattern, name 0 = 1 and below it name _ = 2, or " \
  "guards: f x | x > 0 = ..."
#define CHOOSE "a condition is written if c then x else y"
#define SLICE "a part of an array is take and drop: for elements 1 and 2, take 2 (drop 1 xs)"
#define NO_SLICE "there are no slices: " SLICE
#define NO_CONS                                                                                    \
  "an array has no first element and rest: match all elements, as in [x, y], or split it: two "    \
  "f xs, take k xs, drop k xs; to combine all elements: sum xs, product xs, minimum xs, "          \
  "maximum xs, or reduce f xs of 2^n elements"
#define FOLD                                                                                       \
  "a reduction is reduce op xs, with op associative and 2^n elements; sum, product, minimum "      \
  "and maximum take any length; one element after the other, from the left, is fold f x xs"
#define FILTER                                                                                     \
  "the length of a result cannot depend on data: compact (> 0) xs puts the elements above 0 "      \
  "first and counts them, and permc run -o first:2=FILE writes these alone; map (\\x -> if x > 0 " \
  "then x else 0) xs keeps their places"
#define ZIP_WITH                                                                                   \
  "two arrays are combined by zip_with f xs ys; more by zip and a pattern: map (\\(x, (y, z)) "    \
  "-> ...) (zip xs (zip ys zs))"
#define HISTOGRAM                                                                                  \
  "histogram b key xs counts the elements with each key below 2^b, and reduce_keys r (+) 0 "       \
  "key xs adds those with each key below 2^r; reduce_groups (+) adds pairs (key, x) of any keys"
#define DESCENDING_KEY                                                                             \
  "by a key in descending order, as p.1: sort_on (negate . snd) ps, where equal keys keep their "  \
  "order; of unsigned numbers sort_on (\\p -> ~p.1) ps"
#define OUTPUT "a program has no input or output of its own: the result of main is printed"
#define ARRAY_TYPE "an array type is []i32, or [m]i32 with a name for the length"
#define AND_WORD "and is written &&: x > 0 && x < 10"
#define OR_WORD "or is written ||: x < 0 || x > 10"
#define LAMBDA "a lambda is written \\x -> x + 1"
#define NUMBER_TYPE "the type of a number is written out, as in 10i64 or 0xffu32"
#define NO_RECORDS                                                                                 \
  "there are no records or types of one's own: a tuple is (x, y), with p.0 and p.1 its "           \
  "components, or taken apart by a pattern: let (re, im) = (x, 0) in re"
#define LIST "a list is written [x * x | x <- xs], or map (\\x -> x * x) xs"
#define SIGNED "types stand in a signature on a line above: main : [n]i32 -> [n]i32"
#define NO_MISSING "there is no missing value: use a pair with a bool, (x, true)"
#define EXTENDED                                                                                   \
  "extended x xs fills the array up with x at its end; the result has elements made of padding"
#define REORDERED                                                                                  \
  "an order of index bits has no meaning for other lengths, and puts padding between the "         \
  "elements: take 2^k of them, or fill up with extended x xs and keep all 2^n"
#define PREFIX_SUMS "prefix sums are scan (+) xs"
#define OPERATORS                                                                                  \
  "new operators cannot be defined: write a function f x y, which may stand between its "          \
  "arguments: x `f` y"

#define NO_NEUTRAL                                                                                 \
  "there is no neutral element here: reduce (+) xs, of 2^n elements; sum, product, minimum and "   \
  "maximum take any length"
#define ASSIGNED                                                                                   \
  "values do not change: xs with 7 in place of element 0 is mapi (\\i x -> if i == 0 then 7 else " \
  "x) xs"
#define COMMAS "elements of a list are separated by commas: [1, 2, 3]"
#define NO_NAMES                                                                                   \
  "arguments have no names and no commas: f x y; of each row of an array: map sum xss"
#define ALONE(op)                                                                                  \
  {                                                                                                \
    HINT_TOKENS, "zip_with " op " @  reduce " op " @  scan " op " @  sort_by " op " @",            \
        "as an argument an operator stands in parentheses: zip_with (" op ") xs ys"                \
  }

// Items and tokens are sequences of tokens: N is a name, I an integer, F a fraction, S a string, T
// the beginning of a type, `..` any tokens inside of the brackets around it; @x is the token x
// where the error is, @ any token there; ^x is the token x at which the error is shown instead.
// Others stand for themselves. The first row that suits is taken.
static const struct {
  hint_kind kind;
  const char *written;  // two blanks stand between what is written in several ways
  const char *hint;
} rows[] = {
    {HINT_SIGN, "**", "a power is x ^ k with an integer k; pow x y of floats"},
    {HINT_SIGN, "=>  λ", LAMBDA},
    {HINT_SIGN, ":=", "a name is given with =, as in let n = 3 in n + 1"},
    {HINT_SIGN, "::", "a signature has one colon: main : [m]int -> [m]int"},
    {HINT_SIGN, "++", "values do not change: one more than x is x + 1"},
    {HINT_SIGN, "/=  !==", "not equal is !="},
    {HINT_SIGN, "<>", "not equal is !=; arrays are joined by concat xs ys"},
    {HINT_SIGN, "===", "equal is =="},
    {HINT_SIGN, "=<", "less or equal is <="},
    {HINT_SIGN, "//", COMMENT "; a quotient is x / y"},
    {HINT_SIGN, "/*  {-  -}  #", COMMENT},
    {HINT_SIGN, "+=  -=  *=", NO_STATEMENT},
    {HINT_SIGN, "$", "f $ g x is written f (g x), or x |> g |> f"},
    {HINT_SIGN, "<$>", "f <$> xs is map f xs"},
    {HINT_SIGN, "<|", "f <| x is written f (x), or x |> f"},
    {HINT_SIGN, "!!", "element i of xs is xs[i], without a blank"},
    {HINT_SIGN, "!", "negation is written not b"},
    {HINT_SIGN, "?", CHOOSE},
    {HINT_SIGN, "@",
     "there is no operator @: the product of two matrices is map (\\r -> map (\\c -> sum (zip_with "
     "(*) r c)) (transpose b)) a"},
    {HINT_SIGN, "{  }", "there are no braces: indentation makes blocks"},
    {HINT_SIGN, "'", "there are no characters; ' stands only within or behind a name"},
    {HINT_SIGN, "...", "a range is [first..last]"},
    {HINT_SIGN, "≤", "write <="},
    {HINT_SIGN, "≥", "write >="},
    {HINT_SIGN, "≠", "write !="},
    {HINT_SIGN, "→  ⇒", "write ->"},
    {HINT_SIGN, "←", "write <-"},
    {HINT_SIGN, "×", "write *"},
    {HINT_SIGN, "÷", "write /"},
    {HINT_SIGN, "·", "write * for a product, . for a composition"},
    {HINT_SIGN, "∘", "write ."},
    {HINT_SIGN, "−", "this is a minus sign that editors put in: write -"},
    {HINT_SIGN, "–", "this is a dash that editors put in: write - for minus, -- for a comment"},
    {HINT_SIGN, "—", "this is a dash that editors put in: write -- for a comment"},
    {HINT_SIGN, "⊕", "write xor"},
    {HINT_SIGN, "∧", "write &&"},
    {HINT_SIGN, "∨", "write ||"},
    {HINT_SIGN, "¬", "write not"},
    {HINT_SIGN, "√", "write sqrt"},
    {HINT_SIGN, "…", "write .. for a range"},
    {HINT_SIGN, "“  ”  „", "these quotes are not plain: write \""},
    {HINT_SIGN, "‘  ’", "these quotes are not plain: write '"},
    {HINT_SIGN, "π", "write pi"},
    {HINT_SIGN, "\u00a0", "this blank is a no-break space: write a plain one"},
    {HINT_SIGN, "\u200b  \u200c  \u200d  \u2060  \ufeff", "this has no width: delete it"},

    {HINT_ITEM, "def N ( .. ) : .. return",
     "there is no def and no return: write main xs = sort xs, with a signature above it such as "
     "main : [2^n]f32 -> [2^n]f32; sort xs takes any length"},
    {HINT_ITEM, "def N  local def  fun N  func N  fn N  function N  static N N", DEFINITION},
    {HINT_ITEM, "S", COMMENT},
    {HINT_ITEM, "# include", "nothing needs an include: the names of the library are known"},
    {HINT_ITEM, "# define  const N N = I",
     "a constant is a definition without parameters: size = 8"},
    {HINT_ITEM, "infixl  infixr  infix", OPERATORS},
    {HINT_ITEM, "entry N",
     "there is no entry: every function with a signature is one; write sorted xs = sort xs, with a "
     "signature above it such as sorted : [2^n]i32 -> [2^n]i32"},
    {HINT_ITEM, "let rec N",
     "there is no let rec, as every function may call itself: write fact 0 = 1 and below it fact n "
     "= n * fact (n - 1)"},
    {HINT_ITEM, "let N =  let N N =  let N N N =",
     "at the top of a program there is no let: write twice x = 2 * x"},
    {HINT_ITEM, "let", "at the top of a program there is no let; " DEFINITION},
    {HINT_ITEM, "int N (  void N (  float N (  double N (", C_FUNCTION},
    {HINT_ITEM, "|", "guards stand farther to the right than the name of their function"},
    {HINT_ITEM, "where", "where belongs to the definition above it: indent it"},
    {HINT_ITEM, "import N  open N  from N import",
     "delete this line: the library needs no import; an import names a file, as in import "
     "\"sorts.perm\""},
    {HINT_ITEM, "module N",
     "a program has no module line; import \"sorts.perm\" brings in another file"},
    {HINT_ITEM, "type N  data N  newtype N  struct N", NO_RECORDS},
    {HINT_ITEM, "class N", "there are no classes: an operator works on all types that have it"},
    {HINT_ITEM, "for  while", NO_LOOP},
    {HINT_ITEM, "print  printf", OUTPUT},

    {HINT_TOKENS, "^lambda .. @:", LAMBDA},
    {HINT_TOKENS, "^loop .. @=", NO_LOOP},
    {HINT_TOKENS, "^with [ .. ] @=  = N [ .. ] @=  = .. N [ .. ] @=  let N [ .. ] @=", ASSIGNED},
    {HINT_TOKENS, "[ .. ^for N , .. in",
     "a list over two arrays is [x + y | (x, y) <- zip xs ys], or zip_with (+) xs ys"},
    {HINT_TOKENS, "[ .. ^for .. @in  [ .. ^for .. @<-", LIST},
    {HINT_TOKENS, "( .. ^for .. @in", LIST "; their sum is sum [x * x | x <- xs]"},
    {HINT_TOKENS, "^for .. @  ^while .. @", NO_LOOP},
    {HINT_TOKENS, "^case .. of  \\ ^case .. @  ^match .. @->  ^switch .. @", NO_CASE},
    {HINT_TOKENS, "= ^do .. @  ^return .. @", NO_STATEMENT},
    {HINT_TOKENS, ": ^forall .. @",
     "delete forall and what stands up to its point: a small name in a signature is any type"},
    {HINT_TOKENS, ": .. T @*  : T @*",
     "there are no pointers, and a pair has a comma: an array is []i32, a pair (i32, i32)"},
    {HINT_TOKENS, "^open @import", "delete open: an import makes all names of a file known"},
    {HINT_TOKENS, "N @in =  N @then =  N @else =  N @if =  N @let =  N @where =  N @import =",
     "this is a word of the language, which cannot be a name"},
    {HINT_TOKENS, "N @F .. =", "a fraction is no pattern: f x | x == 0.5 = 1"},
    {HINT_TOKENS, "= @|",
     "guards stand in place of the first =: f x | x > 0 = 1, and below it | otherwise = 0"},
    {HINT_TOKENS, "( \\ N @|  ( \\ ( .. ) @|  ( \\ [ .. ] @|",
     "a lambda has no guards: \\x -> if x > 0 then 1 else 0, or a function f x | x > 0 = 1 in "
     "where"},
    {HINT_TOKENS, "( \\ .. -> .. @where", "a lambda has no where: \\x -> let y = x + 1 in y"},
    {HINT_TOKENS, "[ .. | .. , ^let .. @]",
     "a comprehension has no let: name the value in front of |, as in [let y = x + 1 in y * y | x "
     "<- xs]"},
    {HINT_TOKENS,
     "^.. @<  ^.. @>  ^.. @=", "a range holds its last number: 0..3 are 4 numbers, 0..n - 1 are n"},
    {HINT_TOKENS, "[ .. ^.. @]",
     "a range has an end: [0..9]; the indices of xs are iota (length xs)"},
    {HINT_TOKENS, "= T @->", SIGNED},
    {HINT_TOKENS, "= N @->  ( N @->", LAMBDA},
    {HINT_TOKENS, ": .. ^=>",
     "-> stands before the type of the result; signatures have no classes, as an operator works on "
     "all types that have it"},
    {HINT_TOKENS, ": .. [ I @,  : [ I @,  : .. [ N @,  : [ N @,",
     "an array of rows is of type [3][4]i32, of any lengths [][]i32"},
    {HINT_TOKENS, ": .. @,",
     "the types of parameters are joined by ->: main : []i32 -> i32 -> []i32; a pair is (i32, "
     "i32)"},
    {HINT_TOKENS, ": .. ^IO .. @", OUTPUT},
    {HINT_TOKENS, ": .. ^Maybe T", NO_MISSING},
    {HINT_TOKENS, "[ @:: -", "backwards is reverse xs"},
    {HINT_TOKENS, "[ .. @::", SLICE},
    {HINT_TOKENS, "= .. @::", "the name of a type converts: i64 (x)"},
    {HINT_TOKENS, "\\ ( N @: T",
     LAMBDA "; types of parameters stand in the signature of the definition"},
    {HINT_TOKENS, "( N @: N [", "the types of parameters stand in a signature: f : []i32 -> i32"},
    {HINT_TOKENS, "( N @: N ,  ( N @: T",
     "the types of parameters stand in a signature: f : i32 -> i32"},
    {HINT_TOKENS, "N [ N ] .. @: .. =", SIGNED},
    {HINT_TOKENS, "N ^' N .. :",
     "a name for any type needs no declaration: main : [n]t -> [n]t, and then main xs = ..."},
    {HINT_TOKENS, "( N @: N  ( _ @: N", NO_CONS},
    {HINT_TOKENS, "N @[ ] .. =  N [ @] .. =",
     "the empty array has no pattern: an array pattern has 1, 2, 4, ... elements, and a recursion "
     "follows sizes: f 0 xs = ...; all elements are combined without recursion, as in sum xs"},
    {HINT_TOKENS, "[ @: -", "all but the last is take (length xs - 1) xs"},
    {HINT_TOKENS, "[ @: ]", "xs itself is the whole array"},
    {HINT_TOKENS, "[ @:", "the first k elements are take k xs"},
    {HINT_TOKENS, "[ - .. @: ]", "the last k elements are drop (length xs - k) xs"},
    {HINT_TOKENS, "[ .. @: ]", "all but the first k elements is drop k xs"},
    {HINT_TOKENS, "[ .. @:", SLICE},
    {HINT_TOKENS, "^and .. @", AND_WORD},
    {HINT_TOKENS, "^or .. @", OR_WORD},
    {HINT_TOKENS, "N ^. N ( @)",
     "a function stands before its argument: f xs, not xs.f(); the largest is maximum xs"},
    {HINT_TOKENS, "N . @where  = @where  ( @where",
     "a choice for each element is map (\\x -> if x > 0 then x else 0) xs"},
    {HINT_TOKENS, "N ( @)  : ( @)  -> ( @)",
     "a function without arguments is a value: write its name alone, and its type, as in x : int"},
    {HINT_TOKENS, "N ( .. , N @=  axis @=  dim @=  key @=  reverse @=  dtype @=", NO_NAMES},
    {HINT_TOKENS, "if .. @=", "equal is =="},
    {HINT_TOKENS, "if .. @:  if .. @{", CHOOSE},
    {HINT_TOKENS, "| .. = .. @=", "equal is =="},
    {HINT_TOKENS,
     "= .. ( .. @=", "equal is ==; a name is given by let or where: let y = 1 in y + 1"},
    {HINT_TOKENS, "= N @=  = N N @=", NO_STATEMENT "; equal is =="},
    {HINT_TOKENS, "let N = I @, N =  let N = N @, N =",
     "the bindings of a let stand below each other: let y = 1 in let z = 2 in y + z"},
    {HINT_TOKENS, "let N @,  let .. = .. N @, N =",
     "the components of a tuple are named by (a, b) = ..., the elements of an array by [a, b] = "
     "..."},
    {HINT_TOKENS, "= N @, .. =", "a tuple is taken apart by let (a, b) = p in a + b"},
    {HINT_TOKENS, "[ .. @;", COMMAS},
    {HINT_TOKENS, "| @else", "the last guard is | otherwise = ..."},
    {HINT_TOKENS, ">> @>", "a shift that brings in zeros is one of an unsigned number: u32 x >> 1"},
    {HINT_TOKENS, "[ .. | N @in", LIST},
    {HINT_TOKENS, "N @in N  I @in N", "whether y is in xs is any (map (\\x -> x == y) xs)"},
    {HINT_TOKENS, "@;", "a definition ends with its line, without ;"},
    {HINT_TOKENS, "N @< + >  < @+ >", OPERATORS},
    {HINT_TOKENS, "where N @==", "a name is given with =: where y = 3"},
    {HINT_TOKENS, "let N @==", "a name is given with =: let y = 3 in y + 1"},
    {HINT_TOKENS, "[ N ] @->  N @< T  N @< N @>  T @[", ARRAY_TYPE},
    {HINT_TOKENS, ": .. N @T  : .. N @N  : .. N @. N", "a type is one name; " ARRAY_TYPE},
    {HINT_TOKENS, ": @I  -> @I", "a length stands in brackets: [8]i32; " ARRAY_TYPE},
    {HINT_TOKENS, ": @*", "there are no pointers; " ARRAY_TYPE},
    {HINT_TOKENS, "= @*  = @&  ( @&", "there are no pointers: write the name alone"},
    {HINT_TOKENS, "-> @*", "there are no pointers; " ARRAY_TYPE},
    {HINT_TOKENS, "N [ .. @,", "an element of an array of rows is xss[i][j]"},
    {HINT_TOKENS, "^fun .. @->  ^fn .. @->  ( N @->  \\ .. @:", LAMBDA},
    {HINT_TOKENS, "^elif .. @then", "write else if"},
    {HINT_TOKENS, "= .. @if", CHOOSE},
    {HINT_TOKENS, "@S",
     "there are no strings and no output: a text is an array of u8, and the result of main is "
     "printed"},
    {HINT_TOKENS, "@. I", "a fraction has digits on both sides of the point: 0.5"},
    {HINT_TOKENS, "I .", "a fraction has digits on both sides of the point: 2.0"},
    {HINT_TOKENS, ". @^  . @*  . @/  . @+",
     "there are no dotted operators: map (^ 2) xs of an array and a number, zip_with (*) xs ys of "
     "two arrays"},
    {HINT_TOKENS,
     "N @@ [ .. ] .. =", "a whole array and its elements: f xs = let [x, y] = xs in ..."},
    {HINT_TOKENS, "N @@ N .. =", "a pattern gives one name: f xs = let ys = xs in ..."},
    {HINT_TOKENS,
     "N @@ ( .. ) .. =", "a whole tuple and its components: f p = let (x, y) = p in ..."},
    {HINT_TOKENS, "@++ N  @++ (", "arrays are joined by concat xs ys"},
    {HINT_TOKENS, "@++ [", "arrays are joined by concat xs [y]"},
    {HINT_TOKENS, "let @{", "there are no braces: the bindings of a let begin in one column"},
    {HINT_TOKENS, "@{ N =", NO_RECORDS},
    {HINT_TOKENS, "@{ I", "an array is written [1, 2, 3]"},
    {HINT_TOKENS, "= I @: I", "a range is [0..9], the numbers 0 to n-1 are iota n"},
    {HINT_TOKENS, "= .. @: T",
     "types stand in a signature on a line above, as in x : i32, or behind a number: 10i32"},
    {HINT_TOKENS, "= .. N @:  = I @:", "an element is put before an array by concat [x] xs"},
    {HINT_TOKENS, "N N @:", DEFINITION},
    {HINT_TOKENS, "N [ .. @..", NO_SLICE},
    {HINT_TOKENS, "= .. @+ /  = .. @* /", "a sum is sum xs, a product is product xs"},
    {HINT_TOKENS, "( + I @,  ( - I @,  ( * I @,", "arguments have no commas: map (+ 1) xs"},
    {HINT_TOKENS, "N @\\",
     "a lambda that is an argument stands in parentheses: map (\\x -> x + 1) xs"},
    ALONE("+"),
    ALONE("-"),
    ALONE("*"),
    ALONE("/"),
    ALONE("%"),
    ALONE("^"),
    ALONE("|"),
    ALONE("&"),
    ALONE("xor"),
    ALONE("&&"),
    ALONE("||"),
    ALONE("=="),
    ALONE("!="),
    ALONE("<"),
    ALONE("<="),
    ALONE(">"),
    ALONE(">="),
    ALONE("<<"),
    ALONE(">>"),
    {HINT_TOKENS, "` @xor", "xor stands between its arguments as it is: x xor y"},
    {HINT_TOKENS, "^ @^", "exclusive or is x xor y; x ^ n is a power"},
    {HINT_TOKENS, "where N = .. @,  let N = .. @,",
     "bindings stand below each other, in one column, or are separated by ;: let x = 1; y = 2 in "
     "x"},
    {HINT_TOKENS, ", @]  , @)", "behind the last one there is no comma"},
    {HINT_TOKENS, "= .. @,", "a tuple is (x, y); arguments have no commas: f x y"},
    {HINT_TOKENS, "@..", "a range is [first..last]; in a comprehension x <- first..last"},

    {HINT_NAME, "filter  partition  where  takeWhile  dropWhile", FILTER},
    {HINT_NAME, "nonzero  compress", FILTER},
    {HINT_NAME, "unique  nub", "the different elements are distinct xs, with their number"},
    {HINT_NAME, "map2  map3  zipWith3  zip_with3  zip_with4", ZIP_WITH},
    {HINT_NAME, "zip3", "zip xs (zip ys zs) is an array of (x, (y, z))"},
    {HINT_NAME, "foldr  foldl  foldl'  foldl1  foldr1  reduce_comm", FOLD},
    {HINT_NAME, "scanl  scanl1  cumsum  prefix_sum  prefix_sums  accumulate  cumulative_sum",
     PREFIX_SUMS},
    {HINT_NAME, "flatten  ravel", "an array of rows becomes one array by join xss"},
    {HINT_NAME, "unflatten", "rows of w elements are rows_of w xs"},
    {HINT_NAME, "reshape", "rows of w elements are rows_of w xs; join xss is one array again"},
    {HINT_NAME, "concatMap", "join (map f xs), where all f x have one length"},
    {HINT_NAME, "append", "arrays are joined by concat xs ys"},
    {HINT_NAME, "tabulate", "f of each index is map f (iota n)"},
    {HINT_NAME, "enumerate", "mapi f xs gives f the index and the element"},
    {HINT_NAME, "arange", "the numbers 0 to n-1 are iota n"},
    {HINT_NAME, "range", "the numbers 0 to n-1 are iota n, or the static list [0..n-1]"},
    {HINT_NAME, "linspace",
     "n numbers from a to b are map (\\i -> a + (b - a) * f64 i / f64 (n - 1)) (iota n)"},
    {HINT_NAME, "as", "the name of a type converts: f32 x"},
    {HINT_NAME, "T", "rows and columns change places by transpose xss"},
    {HINT_NAME, "chunks  chunk  chunksOf  group", "rows of w elements are rows_of w xs"},
    {HINT_NAME, "window  sliding_window_view  sliding  windowed  stencil",
     "all rows of 3 neighbours are windows 3 xs; pairs of neighbours: zip (take (length xs - 1) "
     "xs) (drop 1 xs)"},
    {HINT_NAME, "moving  moving_average  rolling  smooth",
     "means of 3 neighbours are map (\\w -> sum w / 3) (windows 3 xs)"},
    {HINT_NAME, "pagerank  page_rank",
     "it is a program of gather, scan and iter: see 'Rank pages by their links' in docs/guide.md"},
    {HINT_NAME, "random  rand  randn  randint",
     "a program makes no random numbers: they are arguments, as by permc run --random '[8]f32'"},
    {HINT_NAME, "zeros", "n zeros are replicate n 0"},
    {HINT_NAME, "ones", "n ones are replicate n 1"},
    {HINT_NAME, "len  sizeof", "the length of an array is length xs"},
    {HINT_NAME, "size  shape",
     "the length of an array is length xs, or the name m of [m] in the signature"},
    {HINT_NAME, "sorted", "write sort xs"},
    {HINT_NAME, "descending  reversed",
     "in descending order: sort_desc xs; backwards: reverse xs; " DESCENDING_KEY},
    {HINT_NAME, "stable_sort_on  stable_sort  sort_stable  sort_on_stable  stable",
     "write sort_stable_on key xs, which keeps the order of elements with equal keys"},
    {HINT_NAME, "sort_desc_on  sort_on_desc  sort_by_desc  sort_desc_by", DESCENDING_KEY},
    {HINT_NAME, "sortBy", "write sort_by le xs, where le x y says whether x may stand before y"},
    {HINT_NAME, "sortOn", "write sort_on key xs"},
    {HINT_NAME, "mod  rem", "the remainder is x % y"},
    {HINT_NAME, "div  quot", "the quotient is x / y, of integers rounded down"},
    {HINT_NAME, "mean  average  avg", "the mean of floats is sum xs / f64 (length xs)"},
    {HINT_NAME, "std  stdev  var  variance",
     "with mean = sum xs / f64 (length xs) the variance is sum (map (\\x -> (x - mean)^2) xs) / "
     "f64 (length xs), and the standard deviation its sqrt"},
    {HINT_NAME, "norm",
     "the Euclidean norm is sqrt (sum (map (\\x -> x * x) xs)), the largest magnitude maximum (map "
     "abs xs)"},
    {HINT_NAME, "softmax",
     "with es = map (\\x -> exp (x - maximum xs)) xs it is map (/ sum es) es"},
    {HINT_NAME, "logsumexp",
     "with top = maximum xs it is top + log (sum (map (\\x -> exp (x - top)) xs))"},
    {HINT_NAME, "sigmoid  expit", "write 1 / (1 + exp (-x))"},
    {HINT_NAME, "ptp", "write maximum xs - minimum xs"},
    {HINT_NAME, "nansum  nanmean",
     "without NaN the sum is sum (map (\\x -> if isnan x then 0 else x) xs)"},
    {HINT_NAME, "nan_to_num  fillna",
     "0 in place of NaN is map (\\x -> if isnan x then 0 else x) xs"},
    {HINT_NAME, "isinf  isfinite",
     "x is infinite where abs x == 1 / 0, finite where abs x < 1 / 0 (a NaN is neither)"},
    {HINT_NAME, "eye",
     "the unit matrix is [[if i == j then 1 else 0 | j <- 0..n-1] | i <- 0..n-1]"},
    {HINT_NAME, "diag  diagonal  trace",
     "the diagonal is mapi (\\i row -> row[i]) xss, and its sum the trace; the result of main is "
     "printed"},
    {HINT_NAME, "tril  triu",
     "a lower triangle is mapi (\\i -> mapi (\\j x -> if j <= i then x else 0)) xss"},
    {HINT_NAME, "meshgrid  outer_sum  cartesian_product",
     "all pairs are map (\\x -> map (\\y -> (x, y)) ys) xs"},
    {HINT_NAME, "gradient",
     "differences of neighbours are map (\\w -> (w[2] - w[0]) / 2) (windows 3 xs)"},
    {HINT_NAME, "in1d  isin  intersect1d  member",
     "whether y is among xs is any (map (\\x -> x == y) xs); the places of many ys are "
     "search_sorted (sort xs) ys"},
    {HINT_NAME, "zeros_like  ones_like  full_like  empty_like",
     "an array like xs, of zeros: map (const 0) xs"},
    {HINT_NAME, "cbrt", "write sign x * pow (abs x) (1 / 3)"},
    {HINT_NAME, "log1p", "write log (1 + x)"},
    {HINT_NAME, "expm1", "write exp x - 1"},
    {HINT_NAME, "rint  ceiling  truncate  fix",
     "floats are rounded by round, ceil, floor, trunc; i64 x makes an integer of one"},
    {HINT_NAME, "floor_divide  divMod  divmod  quotRem",
     "the quotient is x / y, of integers rounded down, and the remainder x % y"},
    {HINT_NAME, "lcm  gcd",
     "a fixed number of steps, as many as are ever needed: fst (iter 93 (\\(a, b) -> if b == 0 "
     "then (a, b) else (b, a % b)) (x, y))"},
    {HINT_NAME, "factorial", "n! is product [1..n] of a static n"},
    {HINT_NAME, "argwhere  flatnonzero",
     "the places of the elements above 0 come first in compact (\\i -> ...) (iota n); compact "
     "(\\(x, i) -> x > 0) (zip xs (iota n)) has both"},
    {HINT_NAME, "select  choose  piecewise  ifelse",
     "a choice for each element is zip_with (\\x y -> if x > y then x else y) xs ys"},
    {HINT_NAME, "vectorize  apply  apply_along_axis  vmap  mapM  traverse  parMap",
     "f of each element, or of each row, is map f xs; of each column map f (transpose xss)"},
    {HINT_NAME, "squeeze  expand_dims  newaxis  unsqueeze",
     "one row is [xs], and the row of xss that has one xss[0]; each element as a row map (\\x -> "
     "[x]) xs"},
    {HINT_NAME, "broadcast_to  broadcast  expand", "k equal rows are replicate k xs"},
    {HINT_NAME, "rot90", "write reverse (transpose xss)"},
    {HINT_NAME, "put  scatter_add  index_add  scatter_reduce",
     "values go to places by scatter places values xs; those of one place are added by reduce_keys "
     "r (+) 0 key"},
    {HINT_NAME, "one_hot", "write map (\\k -> map (\\i -> if i == k then 1 else 0) (iota n)) ks"},
    {HINT_NAME, "span  break  splitAt",
     "a split at a static k is (take k xs, drop k xs); the length of a part cannot depend on data"},
    {HINT_NAME, "lookup  find  elemIndex  findIndex  index",
     "the place of the first element above 3 is argmax (map (> 3) xs); of a sorted array "
     "search_sorted xs [3]"},
    {HINT_NAME, "fromEnum  toEnum  toInteger  ord  chr", "the name of a type converts: i64 x"},
    {HINT_NAME, "copy  clone", "values do not change, so that nothing needs a copy"},
    {HINT_NAME, "assert",
     "a program checks nothing that it is not given: test blocks below a function (-- ==) do, and "
     "sizes in its signature"},
    {HINT_NAME, "polyval  polyfit",
     "a polynomial is fold (\\y c -> y * x + c) 0 cs, the highest power first"},
    {HINT_NAME, "det  inv  solve  svd  qr  eig  cholesky  lstsq",
     "the library has no linear algebra: such a program is loops of fixed length (iteri)"},
    {HINT_NAME, "roll", "a cyclic shift by k to the left is rotate k xs"},
    {HINT_NAME, "shift", "shifted k fill xs moves elements k places on; rotate k xs is cyclic"},
    {HINT_NAME, "init", "all but the last is take (length xs - 1) xs"},
    {HINT_NAME, "tail", "all but the first is drop 1 xs"},
    {HINT_NAME, "iterate  until", "iter k f x applies f k times"},
    {HINT_NAME, "hist  reduce_by_index", HISTOGRAM},
    {HINT_NAME, "subtract", "the function that subtracts 1 is \\x -> x - 1"},
    {HINT_NAME, "compare  cmp", "an order says whether x may stand before y: sort_by (<=) xs"},
    {HINT_NAME, "comparing", "by a key: sort_on key xs"},
    {HINT_NAME, "True", "write true"},
    {HINT_NAME, "False", "write false"},
    {HINT_NAME, "None  Nothing  Just  NULL", NO_MISSING},
    {HINT_NAME, "elem", "whether y is in xs is any (map (\\x -> x == y) xs)"},
    {HINT_NAME, "succ", "one more than x is x + 1"},
    {HINT_NAME, "pred", "one less than x is x - 1"},
    {HINT_NAME, "and", AND_WORD},
    {HINT_NAME, "or", OR_WORD},
    {HINT_NAME, "is", "equal is ==, not equal is !="},
    {HINT_NAME, "null", "an array xs is empty where length xs == 0"},
    {HINT_NAME, "np  numpy  torch  jnp  linalg  scipy  cp",
     "the library's names stand alone: sort xs"},
    {HINT_NAME, "math", "the library's names stand alone: sqrt x"},
    {HINT_NAME, "fromIntegral", "the name of a type converts: f32 n"},
    {HINT_NAME, "realToFrac", "the name of a type converts: f32 x"},
    {HINT_NAME, "astype", "the name of a type converts: map f32 xs"},
    {HINT_NAME, "float", "the name of a type converts: f32 n or f64 n"},
    {HINT_NAME, "double", "the name of a type converts: f64 n"},
    {HINT_NAME, "unsigned", "the name of a type converts: u32 n"},
    {HINT_NAME, "fabs", "one name serves all types: abs x"},
    {HINT_NAME, "fmin", "one name serves all types: min x y"},
    {HINT_NAME, "fmax", "one name serves all types: max x y"},
    {HINT_NAME, "sqrtf", "one name serves all types: sqrt x"},
    {HINT_NAME, "print  printf  putStrLn  mapM_  show", OUTPUT},
    {HINT_NAME, "return  pure  with  do", NO_STATEMENT},
    {HINT_NAME, "case  match", NO_CASE},
    {HINT_NAME, "for  while  loop", NO_LOOP},
    {HINT_NAME, "lambda  fn", LAMBDA},
    {HINT_NAME, "end", "if and let end by themselves"},
    {HINT_NAME, "lowest  highest  maxBound  minBound  INT_MAX  INT_MIN  iinfo  finfo",
     "the first and the last value of a type are minval and maxval"},
    {HINT_NAME, "inf  Inf  infinity  nan  NaN", "infinity is 1.0 / 0.0, NaN 0.0 / 0.0"},
    {HINT_NAME, "e  E", "e is exp 1, and its power exp x"},
    {HINT_NAME, "ln", "write log x"},
    {HINT_NAME, "update  set  replace", "xs with y at place i is scatter [i] [y] xs"},
    {HINT_NAME, "rec", "every function may call itself, without rec: let go i = ... in go n"},
    {HINT_NAME, "dot  vdot  inner", "the sum of products is sum (zip_with (*) xs ys)"},
    {HINT_NAME, "matmul  mm  bmm  einsum  tensordot",
     "the product of two matrices is map (\\r -> map (\\c -> sum (zip_with (*) r c)) (transpose "
     "b)) a"},
    {HINT_NAME, "outer", "all products are map (\\x -> map (\\y -> x * y) ys) xs"},
    {HINT_NAME, "cumprod", "running products are scan (*) xs"},
    {HINT_NAME, "cummax  cummin", "running maxima are scan max xs, minima scan min xs"},
    {HINT_NAME, "prod", "write product xs"},
    {HINT_NAME, "amax  nanmax", "write maximum xs"},
    {HINT_NAME, "amin  nanmin", "write minimum xs"},
    {HINT_NAME, "diff", "differences are zip_with (-) (drop 1 xs) (take (length xs - 1) xs)"},
    {HINT_NAME, "clip", "write clamp low high x"},
    {HINT_NAME, "relu", "write max x 0"},
    {HINT_NAME, "square", "write x * x"},
    {HINT_NAME, "power", "x ^ k is the power with an integer k, pow x y of floats"},
    {HINT_NAME, "exp2", "write pow 2 x"},
    {HINT_NAME, "log10", "write log x / log 10"},
    {HINT_NAME, "hypot", "write sqrt (x * x + y * y)"},
    {HINT_NAME, "arctan2", "write atan2 y x"},
    {HINT_NAME, "real  imag", "the parts of a complex number z are re z and im z"},
    {HINT_NAME, "conjugate", "write conj z"},
    {HINT_NAME, "angle", "write atan2 (im z) (re z)"},
    {HINT_NAME, "fftshift", "write rotate (length xs / 2) xs"},
    {HINT_NAME, "percentile", "a quantile is quantile 0.95 xs, several are quantiles qs xs"},
    {HINT_NAME, "searchsorted  digitize  bisect  bisect_left  lower_bound",
     "the places of ys in xs, which is sorted, are search_sorted xs ys; on the right of equal ones "
     "search_sorted_right xs ys"},
    {HINT_NAME, "reduceat  segment_reduce  segment_sum  segmented_reduce",
     "rows of unequal length, from offsets on, are reduced by reduce_ragged (+) 0 offsets xs"},
    {HINT_NAME, "groupby  group_by  reduce_by_key",
     "pairs (key, x) are summed for each key by reduce_groups (+) pairs, with their number; keys "
     "below 2^r by reduce_keys r (+) 0 key xs"},
    {HINT_NAME, "lexsort", "by one key and then another: argsort (zip first second)"},
    {HINT_NAME, "argpartition  kthvalue",
     "the k largest are top_k k xs; element k of sort xs is kth k xs"},
    {HINT_NAME, "bincount  counts  value_counts  frequencies",
     "histogram b key xs counts the elements with each key below 2^b; of any keys, reduce_groups "
     "(+) (map (\\x -> (x, 1)) xs)"},
    {HINT_NAME, "count_nonzero", "write count (!= 0) xs"},
    {HINT_NAME, "logical_and  bitwise_and", "write x && y of two bools, x & y of integers"},
    {HINT_NAME, "logical_or  bitwise_or", "write x || y of two bools, x | y of integers"},
    {HINT_NAME, "index_select  take_along_axis", "elements by their indices are gather is xs"},
    {HINT_NAME, "concatenate  hstack", "arrays are joined by concat xs ys"},
    {HINT_NAME, "stack  vstack", "arrays as rows of one are [xs, ys]"},
    {HINT_NAME, "tile", "k copies of an array are join (replicate k xs)"},
    {HINT_NAME, "repeat", "k of each element are join (map (replicate k) xs)"},
    {HINT_NAME, "full", "n times x is replicate n x"},
    {HINT_NAME, "pad",
     "concat xs (replicate k x); extended x xs fills up to the next power of two"},
    {HINT_NAME, "swapaxes  moveaxis  permute_dims  permute_axes  rollaxis",
     "three dimensions are reordered by transpose_by [2, 0, 1] xsss, as by NumPy's transpose; "
     "transpose exchanges the two outer ones, map transpose the two behind the first"},
    {HINT_NAME, "fliplr", "write map reverse xss"},
    {HINT_NAME, "flipud", "write reverse xss"},
    {HINT_NAME, "identity", "write id"},
    {HINT_NAME, "bit_reverse", "write bitrev xs"},
    {HINT_NAME, "L  U  UL  LL  ULL  F32  F64", NUMBER_TYPE},

    {HINT_TYPE, "Int  Integer  integer", "write int, which is i64"},
    {HINT_TYPE, "long  int64  int64_t  isize  ptrdiff_t", "write i64"},
    {HINT_TYPE, "short  int16  int16_t", "write i16"},
    {HINT_TYPE, "byte  uint8  uint8_t", "write u8"},
    {HINT_TYPE, "unsigned  uint32  uint32_t", "write u32"},
    {HINT_TYPE, "size_t  usize", "write i64 or u64"},
    {HINT_TYPE, "uint", "write u32 or u64"},
    {HINT_TYPE, "Word  uint64  uint64_t", "write u64"},
    {HINT_TYPE, "i128  u128", "integers have at most 64 bits: i64, u64, or a pair of them"},
    {HINT_TYPE, "f8  f128", "floats are f16, bf16, f32 and f64"},
    {HINT_TYPE, "bit", "write bool, or u8"},
    {HINT_TYPE, "num  number", "write int, f32 or f64; a name for any type is t"},
    {HINT_TYPE, "float", "write f32 (float of C) or f64 (float of Python)"},
    {HINT_TYPE, "Float  float32", "write f32"},
    {HINT_TYPE, "double  Double  float64", "write f64"},
    {HINT_TYPE, "half  float16", "write f16"},
    {HINT_TYPE, "bfloat16  bfloat", "write bf16"},
    {HINT_TYPE, "complex  Complex", "write c64 (of two f32) or c128 (of two f64)"},
    {HINT_TYPE, "boolean  Bool", "write bool"},
    {HINT_TYPE, "int8  int8_t", "write i8"},
    {HINT_TYPE, "int32  int32_t", "write i32"},
    {HINT_TYPE, "uint16  uint16_t", "write u16"},
    {HINT_TYPE, "complex64", "write c64"},
    {HINT_TYPE, "complex128", "write c128"},
    {HINT_TYPE, "String  string  str  Char",
     "there are no strings or characters: a text is an array of u8"},
    {HINT_TYPE, "char", "there are no strings or characters: write u8 or i8"},
    {HINT_TYPE, "Maybe", NO_MISSING},
    {HINT_TYPE, "List  Vec  Vector  Array  Tensor  Seq  ndarray", ARRAY_TYPE},
    {HINT_TYPE, "void", "a function returns a value"},

    {HINT_FUNCTION, "zip_with",
     "zip_with takes a function of two arguments, then two arrays: zip_with (\\x y -> x + y) xs "
     "ys"},
    {HINT_FUNCTION, "reduce  scan  scan_exclusive",
     "an operator is a function of two arguments: reduce (\\x y -> x + y) xs"},
    {HINT_SUFFIX, "f", "write 1.5f32, or 1.5 alone"},
    {HINT_SUFFIX, "i  j  J", "the complex number 1 + 2i is complex 1 2"},
    {HINT_SUFFIX, "o", "there are no octal numbers: 0o17 is 0xf or 15"},
    {HINT_SUFFIX, "u  ul  l  U  UL  L",
     NUMBER_TYPE "; a literal without one takes the type that its context needs"},
    {HINT_ARGUMENT, "not", "not takes a bool, in parentheses if it is computed: not (x == 0)"},
    {HINT_ARGUMENT, "map", "the function comes first: map f xs; of two arrays: zip_with f xs ys"},
    {HINT_ARGUMENT, "column",
     "column k f xs takes a function f of an array of two elements: f [x, y] = [min x y, max x y]"},
    {HINT_ARGUMENT, "fold", "fold takes what it begins with and then the array: fold (+) 0 xs"},
    {HINT_ARGUMENT, "concat", "concat joins two arrays: concat xs [x]"},
    {HINT_ARGUMENT, "take",
     "take k xs has the count first, then an array; behind a function f: take k . f"},
    {HINT_ARGUMENT, "drop",
     "drop k xs has the count first, then an array; behind a function f: drop k . f"},
    {HINT_ARGUMENT, "iter",
     "iter k f x applies f k times to x, so f gives a value of the type that it takes"},
    {HINT_ARGUMENT, "sort",
     "sort takes the array alone; by an order: sort_by le xs; by a key: sort_on key xs"},
    {HINT_ARGUMENT, "sort_desc",
     "sort_desc takes the array alone; by a key in descending order: sort_on (negate . key) xs"},
    {HINT_ARGUMENT, "argsort", "argsort takes the array alone; by a key: argsort (map key xs)"},
    {HINT_ARGUMENT, "sort_by",
     "sort_by takes an order, which says whether x may stand before y: sort_by (\\x y -> x.0 <= "
     "y.0) ps; by a key: sort_on (\\p -> p.0) ps"},
    {HINT_ARGUMENT, "sort_on",
     "sort_on takes a key of one element: sort_on negate xs; by an order: sort_by le xs"},
    {HINT_ARGUMENT, "parm  parmi", "the mask comes first, then the function: parm 1 f xs"},
    {HINT_ARGUMENT, "two  ilv  que  vee", "the function comes first: two f xs"},
    {HINT_ARGUMENT, "bmmc",
     "bmmc rows c xs takes a matrix as a list of masks, one for each bit of the new index: bmmc "
     "[2, 1] 0 xs"},
    {HINT_ARGUMENT, "top_k  bottom_k  split  rotate  replicate",
     "the number comes first: top_k 3 xs, split 3 xs, replicate 3 x"},
    {HINT_ARGUMENT, "maximum  minimum",
     "maximum and minimum take an array; of two values max x y, min x y"},
    {HINT_ARGUMENT, "histogram  bucket",
     "the number of bits, then the key of an element: histogram 4 id xs of keys 0 to 15, bucket 4 "
     "id xs"},
    {HINT_ARGUMENT, "count", "count takes a condition on one element: count (== 3) xs"},
    {HINT_ARGUMENT, "mapi", "mapi gives f the index and the element: mapi (\\i x -> ...) xs"},
    {HINT_ARGUMENT, "scan_exclusive",
     "scan_exclusive takes what the result begins with: scan_exclusive (+) 0 xs"},
    {HINT_ORDER, "scatter",
     "the order is scatter places values xs, where xs is what is written to"},
    {HINT_ORDER, "gather", "the places come first, and are integers: gather is xs"},
    {HINT_ORDER, "permute", "the places come first, and are integers: permute is xs"},
    {HINT_ORDER, "search_sorted", "what is sorted comes first: search_sorted xs ys"},
    {HINT_ARGUMENT, "abs", "of a complex number z it is magnitude z"},
    {HINT_ARGUMENT, "max", "max x y is of two values; of an array: maximum xs"},
    {HINT_ARGUMENT, "min", "min x y is of two values; of an array: minimum xs"},
    {HINT_ARGUMENT, "^",
     "x ^ k is the power with an integer k, pow x y of floats; exclusive or is x xor y"},
    {HINT_ARGUMENT, "reduce", NO_NEUTRAL},
    {HINT_ARGUMENT, "scan",
     "there is no neutral element here: scan (+) xs; scan_exclusive (+) 0 xs"},
    {HINT_ARGUMENT, "padded",
     "padded takes the fill, then the function, in parentheses if it has arguments: padded maxval "
     "(sort_on fst) xs"},
    {HINT_ARGUMENT, "all", "all takes an array of bools: all (map (\\x -> x > 0) xs)"},
    {HINT_ARGUMENT, "any", "any takes an array of bools: any (map (\\x -> x > 0) xs)"},
    {HINT_ARGUMENT, "i32.",
     "write sum xs, not i32.sum xs; f32 x, not f32.i32 x; sqrt x, not f32.sqrt x"},
    {HINT_ARGUMENT, "xs[is]",
     "the elements of xs at the places is are gather is xs; compact (> 0) xs puts those above 0 "
     "first and counts them"},
    {HINT_ARGUMENT, ".0", "the first components of an array of pairs are map (\\p -> p.0) ps"},
    {HINT_ARGUMENT, ".",
     "a function stands before its argument: length xs, not xs.length; two of them: (f . g) xs"},

    {HINT_EXTRA, "maximum  minimum",
     "of each row: map maximum xss; of two values: max x y, min x y"},
    {HINT_EXTRA, "sum  product  reverse  length  all  any", "of each row: map sum xss"},
    {HINT_EXTRA, "sort  argsort",
     "of each row: map sort xss; by a key: sort_on key xs; by an order: sort_by le xs"},
    {HINT_EXTRA, "[1 2]", COMMAS},
    {HINT_EXTRA, "reduce", NO_NEUTRAL},
    {HINT_EXTRA, "map", "map f xs works on one array, zip_with f xs ys on two"},
    {HINT_EXTRA, "concat", "concat xs ys joins two arrays; join xss the rows of one"},
    {HINT_EXTRA, "merge",
     "merge takes one array, whose halves are sorted; merge_sorted xs ys joins two sorted arrays"},
    {HINT_EXTRA, "zip", "zip xs (zip ys zs) is an array of (x, (y, z))"},

    {HINT_EQUATION, "argmin  argmax  quantiles", "an array of at least one element"},
    {HINT_EQUATION, "transpose_by", "the numbers 0, 1 and 2 in some order"},
    {HINT_EQUATION, "begins_and_ends", "offsets: one more than there are rows"},
    {HINT_EQUATION, "irfft", "m / 2 + 1 coefficients to make m samples"},
    {HINT_EQUATION, "ntt_levels  intt_levels",
     "2^n elements, n at most the t of its field, and one less in convolve_negacyclic"},
    {HINT_EQUATION, "windows", "windows of 1 to as many elements as the array has"},
    {HINT_EQUATION, "digitrev", "2^n elements where n is a multiple of k"},
    {HINT_EQUATION, "fwht  ifwht", "2^n elements, or 12, 20 or 28 times 2^n of them"},

    {HINT_LENGTH, "flip_bits  bit_permute  rotate_bits  shuffle  unshuffle  bitrev  digitrev",
     REORDERED},
    {HINT_LENGTH, "gray  ungray  bmmc", REORDERED},
    {HINT_LENGTH, "two",
     "two halves of any length: concat (f (take h xs)) (f (drop h xs)) with h = length xs / "
     "2; " EXTENDED},
    {HINT_LENGTH, "ilv  que  vee", EXTENDED},
    {HINT_LENGTH, "sort_by",
     "padded x (sort_by le) xs fills the array up with an x that comes last by le; by a key: "
     "sort_on key xs"},
    {HINT_LENGTH, "walsh  iwalsh  paley  ipaley", EXTENDED},
    {HINT_LENGTH, "fwht  ifwht",
     "fwht (extended 0 xs) fills the array up with zeros and gives all 2^n elements of the result"},
    {HINT_LENGTH, "reduce",
     "extended x xs fills the array up with a neutral x: reduce max (extended minval xs); sum, "
     "product, minimum and maximum take any length"},
    {HINT_LENGTH, "top_k_by",
     "fill the array up with an x that is last by le: top_k_by le k (extended x xs)"},
    {HINT_LENGTH, "sort_desc",
     "padded minval sort_desc xs fills the array up with minval, which comes last"},
    {HINT_LENGTH, "merge  merge_by", "merge_sorted xs ys joins sorted arrays of any lengths"},

    {HINT_STATIC, "a condition in a comprehension", FILTER},
    {HINT_STATIC, "a condition that chooses between functions",
     "apply both, and choose between the results: if c then f x else g x"},
    {HINT_STATIC,
     "the count of take  the count of drop  the length of iota  the length of replicate",
     "a length cannot depend on data: keep the whole array, and the count beside it, as compact "
     "does"},
    {HINT_STATIC, "the count of iter",
     "do as many steps as are ever needed, with a condition in each: iter 20 (\\(i, a) -> if i > 0 "
     "then (i - 1, a * i) else (i, a)) (n, 1)"},
    {HINT_STATIC, "a pattern that is a number",
     "choose between numbers by if or guards: f x | x == 0 = 1"},
    {HINT_STATIC, "a pattern that is true or false", "choose by if: if b then x else y"},
};

// Whether what is at `state` is written so.
typedef bool matches(const char *written, const void *state);

static const char *first_hint(hint_kind kind, matches *match, const void *state) {
  enum { LONGEST = 80 };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (const char *at = rows[i].written, *end; rows[i].kind == kind && at; at = end) {
      char one[LONGEST] = "";
      end = strstr(at, "  ");
      size_t length = end ? (size_t)(end - at) : strlen(at);
      memcpy(one, at, length < LONGEST ? length : LONGEST - 1);
      end = end ? end + 2 : NULL;
      if (match(one, state))
        return rows[i].hint;
    }
  return NULL;
}

static bool is_word(const char *written, const void *word) { return !strcmp(written, word); }

const char *hint_for(hint_kind kind, const char *written) {
  return first_hint(kind, is_word, written);
}

typedef struct characters {
  const char *bytes;
  size_t count;
} characters;

static bool is_sign(const char *written, const void *state) {
  const characters *c = state;
  size_t length = strlen(written);
  return (*written & 0x80) && length <= c->count && !memcmp(c->bytes, written, length);
}

const char *hint_for_characters(const char *bytes, size_t count) {
  const char *hint = NULL;
  for (; !hint && count; bytes++, count--)
    hint = first_hint(HINT_SIGN, is_sign, &(characters){bytes, count});
  return hint ? hint
              : "use other characters: names have the letters a to z and A to Z, digits, _ and '";
}

// ---- sequences of tokens ---------------------------------------------------------------------

static bool is_virtual(const token *t) {
  return t->kind == OPEN || t->kind == SEMI || t->kind == CLOSE;
}

static bool word_is(const char *word, size_t length, const char *other) {
  return strlen(other) == length && !memcmp(word, other, length);
}

static bool begins_type(const token *t) {
  return t->kind == '[' || t->kind == INDEX ||
         (t->kind == NAME && scalar_named(t->text, strlen(t->text)) != SCALAR_COUNT);
}

// What stands farther from the error has nothing to do with it.
enum { NEAR = 60 };

static bool token_is(const token *t, const char *word, size_t length) {
  return word_is(word, length, "N")   ? t->kind == NAME
         : word_is(word, length, "T") ? begins_type(t)
         : word_is(word, length, "I") ? t->kind == INTEGER
         : word_is(word, length, "F") ? t->kind == FLOATING
         : word_is(word, length, "S") ? t->kind == STRING
                                      : word_is(word, length, t->text);
}

// Whether the tokens from number i on, up to the end of the definition, are those of `written`.
static bool match_tokens(const token_list *l, size_t i, const char *written, size_t wrong,
                         size_t *shown) {
  size_t length = strcspn(written, " "), depth = 0;
  if (!length)
    return true;
  const char *rest = written[length] ? written + length + 1 : "";
  bool skip = word_is(written, length, "..");
  for (; i < l->all.count && i <= wrong + NEAR; i++) {
    const token *t = &l->all.items[i];
    if (t->kind == ITEM || !t->kind)
      return (skip && !*rest) || (*written == '@' && length == 1 && i == wrong);
    if (is_virtual(t) && t->where.start == t->where.end)
      continue;
    if (skip && match_tokens(l, i, rest, wrong, shown))
      return true;
    if (skip) {
      depth += t->kind == '(' || t->kind == '[' || t->kind == INDEX;
      if ((t->kind == ')' || t->kind == ']') && !depth--)
        return !*rest;
      continue;
    }
    bool here = *written == '@', there = *written == '^', marked = (here || there) && length > 1;
    bool any = here && length == 1;
    if ((here && i != wrong) || !(any || token_is(t, written + marked, length - marked)) ||
        !match_tokens(l, i + 1, rest, wrong, shown))
      return false;
    if (there)
      *shown = i;
    return true;
  }
  return false;
}

typedef struct token_range {
  const token_list *tokens;
  size_t first, last, wrong;
  size_t *shown;
} token_range;

static bool begins_in_range(const char *written, const void *state) {
  const token_range *r = state;
  for (size_t i = r->first; i <= r->last; i++)
    if (match_tokens(r->tokens, i, written, r->wrong, r->shown))
      return true;
  return false;
}

// Whether a signature gives this name a type: a program may have a function `entry`, if it says so.
static bool has_signature(const token_list *l, const char *name) {
  for (size_t i = 1; i + 1 < l->all.count; i++) {
    const token *t = &l->all.items[i];
    if (t[-1].kind == ITEM && t[1].kind == ':' && !strcmp(t->text, name))
      return true;
  }
  return false;
}

static bool ends_expression(int kind) {
  static const int kinds[] = {NAME, INTEGER, FLOATING, TRUE, FALSE, WILD, FIELD, ')', ']'};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kind == kinds[i])
      return true;
  return false;
}

// At the = or : of a definition that is indented, which so continues what stands above it.
static const char *hint_for_column(const token_list *l, size_t at, size_t *shown) {
  static const char edge[] = "a definition begins at the left edge, without blanks in front of it";
  const token *t = l->all.items;
  size_t name = at;
  int open = 0;
  if (!at)
    return t->column && t->kind == NAME ? edge : NULL;
  while (name > 0 && !t[name].first &&
         (ends_expression(t[name - 1].kind) || strchr("([,-", t[name - 1].kind)))
    name--;
  if ((t[at].kind != '=' && t[at].kind != ':') || name == at || !name || t[name].kind != NAME ||
      !t[name].first || !ends_expression(t[name - 1].kind))
    return NULL;
  *shown = name;
  for (size_t i = name; i-- > 0 && t[i].kind != ITEM;)
    open += (t[i].kind == OPEN) - (t[i].kind == CLOSE);
  return open > 0 ? "the bindings of a block begin in one column" : edge;
}

const char *hint_at(const token_list *l, size_t at, size_t *shown) {
  *shown = at;
  const char *hint = hint_for_column(l, at, shown);
  if (hint)
    return hint;
  size_t first = at;
  while (first > 0 && at - first < NEAR && l->all.items[first].kind != ITEM)
    first--;
  hint = first_hint(HINT_TOKENS, begins_in_range, &(token_range){l, first, at, at, shown});
  if (*shown == at || !has_signature(l, l->all.items[*shown].text))
    return hint;
  *shown = at;
  return NULL;
}

const char *hint_for_item(const token_list *l, size_t at) {
  size_t shown;
  const char *hint = first_hint(HINT_ITEM, begins_in_range, &(token_range){l, at, at, at, &shown});
  return hint && has_signature(l, l->all.items[at].text) ? NULL : hint;
}
