# Ask zsh for the completions of a line: zsh -f completion.zsh DIRECTORY-OF-_runt LINE. One match a line between "begin" and "end".
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "
PS1=
fpath=($1 \$fpath)
autoload -Uz compinit && compinit -u -D
zstyle ':completion:*' list-separator ''
bindkey '^I' complete-word
# Every candidate goes through compadd; calls that only ask (-O, -A, -D) are left alone.
compadd() {
  if [[ \" \${@[1,(i)(-|--)]} \" == *' -'[OAD]' '* ]]; then builtin compadd \"\$@\"; return; fi
  local -a matches; builtin compadd -A matches \"\$@\"
  print -rl -- \$matches >> $3
  builtin compadd \"\$@\"
}
finish() { print -r -- end >> $3; exit }
comppostfuncs=(finish)
print ready
"
while zpty -r shell line; do [[ $line == *ready* && $line != *print* ]] && break; done
zpty -w -n shell "$2"$'\t'
for attempt in {1..300}; do
    grep -qx end $3 2>/dev/null && break
    sleep 0.05
done
zpty -d shell
