" Vim syntax of .perm, programs of permc. tests/tools/editors.sh compares the words with those of the
" language.
if exists("b:current_syntax")
  finish
endif
setlocal iskeyword+='
setlocal commentstring=--\ %s

syntax keyword permKeyword let in where if then else import extern xor
syntax keyword permBoolean true false
syntax keyword permType bool i8 i16 i32 i64 u8 u16 u32 u64 int f16 bf16 f32 f64 c64 c128
syntax keyword permBuiltin abs acos asin associative atan atan2 bmmc bucket_places ceil checked_lengths
syntax keyword permBuiltin checked_ends checked_fractions checked_keys fold_range grouped groups_by_steps is_foldable
syntax keyword permBuiltin checked_offsets checked_power cis cispi clz column complex concat conj cos cosh
syntax keyword permBuiltin cospi count_keys ctz drop exp floor gather im iota isnan iter join known length log log2
syntax keyword permBuiltin magnitude map mapi maxval minval mulhi negate network_keys network_pairs network_top not
syntax keyword permBuiltin otherwise padded parity parm parmi pi popcount pow ragged_places re replicate root
syntax keyword permBuiltin round rows_of scatter sign sin sinh sinpi sorted_places sorted_places_desc split
syntax keyword permBuiltin sqrt take tan tanh total_le transpose trunc trusted unzip zip

syntax match permNumber "\<\(0x[0-9a-fA-F_]\+\|0b[01_]\+\|[0-9][0-9_]*\(\.[0-9][0-9_]*\)\?\([eE][-+]\?[0-9]\+\)\?\)\([iuf]\(8\|16\|32\|64\)\|i\?c\?\(64\|128\)\?\)\>"
syntax match permOperator "|>\|||\|&&\|[-+*/%^~.|&<>=!\\]"
syntax region permString start=+"+ end=+"+ oneline
syntax match permSignature "^[a-z_][A-Za-z0-9_']*\ze\s*:\s"
syntax match permComment "--.*$" contains=permTodo,permTest,@Spell
syntax match permTest contained "^-- \zs\(==$\|entry:\|tags\|input\|random input\|output\|auto output\|error:\|property:\|structure\|target\)"
syntax keyword permTodo contained TODO FIXME XXX

highlight default link permKeyword Keyword
highlight default link permBoolean Boolean
highlight default link permType Type
highlight default link permBuiltin Function
highlight default link permNumber Number
highlight default link permOperator Operator
highlight default link permString String
highlight default link permSignature Identifier
highlight default link permComment Comment
highlight default link permTest SpecialComment
highlight default link permTodo Todo

let b:current_syntax = "perm"
