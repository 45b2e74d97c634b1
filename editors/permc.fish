# Completion of permc for fish. Verbs, options and their values are those that `permc help` says, so
# they are those of the permc that is installed. It lies in ~/.config/fish/completions.
function __permc_words
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l option $words[-1]
    set -l before ''
    if string match -q -- '--*=*' $word
        set option (string split -m 1 = -- $word)[1]
        set before $option=
    end
    if test (count $words) -eq 1; or test "$words[2]" = help
        permc help | string replace -rf '^  permc ([a-z]+).*  ([^ ].*)' '$1\t$2'
        return
    end
    set -l argument
    string match -q -- '-*' $option
    and set argument (permc help $words[2] | string replace -rf "^  $option ([^ ]+).*" '$1')
    switch "$argument"
        case '*|*'
            string replace -r '^' -- "$before" (string split '|' -- $argument)
        case NAME TARGET
            permc $words[2] $option help 2>/dev/null | string replace -rf '^([^ ]+) *(.*)' $before'$1\t$2'
        case ''
            if string match -q -- '-*' $word
                permc help $words[2] | string replace -rf '^  (-[^ ]+)(?:.*  )?(.*)' '$1\t$2'
            else
                __fish_complete_path $word
            end
        case '*'
            __fish_complete_path $word
    end
end
complete -c permc -f -a '(__permc_words)'
