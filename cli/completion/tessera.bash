# bash completion for tessera: commands and options are those of the help, so it is right for the version that is installed.
_tessera_help() { "${COMP_WORDS[0]}" "$@" --help 2>/dev/null; }

_tessera() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words= k
  COMPREPLY=()
  for ((k = 1; k < COMP_CWORD; ++k)); do  # what the program is given is its own
    [[ ${COMP_WORDS[k]} == -- ]] && { compopt -o default; return; }
  done
  if [[ $COMP_CWORD == 1 ]]; then
    words="--help --version $(_tessera_help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')"
  elif [[ $before == -b || $before == --balancer || $command == policies ]]; then
    words=$("${COMP_WORDS[0]}" policies 2>/dev/null | sed -n '/^$/q; s/^\([a-z]*\) .*/\1/p')
  elif [[ $before == -n || $before == --ranks ]]; then
    words=auto
  elif [[ $word == -* ]]; then
    words=$(_tessera_help "$command" | sed -n 's/^  \(-[-,A-Za-z]*\) .*/\1/p' | tr ',' ' ')
  else
    case $command in
      run | build | check | fmt) mapfile -t COMPREPLY < <(compgen -f -X '!*.fa' -- "$word"; compgen -f -X '!*.cpp' -- "$word"; compgen -d -- "$word") ;;
      *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
    compopt -o filenames
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _tessera tessera
