# Completion of permc for bash. Verbs, options and their values are those that `permc help` says, so
# they are those of the permc that is installed. Sourced by ~/.bashrc, or installed where
# bash-completion looks for it.
_permc() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} found
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]} # --option=VALUE
  fi
  if ((COMP_CWORD == 1)) || [[ $verb == help ]]; then
    found=$(permc help | sed -n 's/^  permc \([a-z]*\).*/\1/p')
  elif [[ $before == -* ]]; then
    found=$(permc help "$verb" | sed -n "s/^  $before \([^ ]*\).*/\1/p")
    case $found in
    *'|'*) found=${found//|/ } ;;
    NAME | TARGET) found=$(permc "$verb" "$before" help 2>/dev/null | sed -n 's/^\([^ ]*\).*/\1/p') ;;
    '') [[ $word == -* ]] && found=$(permc help "$verb" | sed -n 's/^  \(-[^ ]*\).*/\1/p') ;;
    *) found= ;;
    esac
  elif [[ $word == -* ]]; then
    found=$(permc help "$verb" | sed -n 's/^  \(-[^ ]*\).*/\1/p')
  fi
  # shellcheck disable=SC2207  # no word of these has a blank
  COMPREPLY=($(compgen -W "$found" -- "$word"))
}
complete -o default -F _permc permc
