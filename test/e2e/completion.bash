# Ask bash for the completions of words: completion.bash SCRIPT WORD... (the last one is being typed). One match a line.
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_runt
printf '%s\n' "${COMPREPLY[@]}"
