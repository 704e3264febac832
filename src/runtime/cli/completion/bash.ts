/** The script for bash(1): programmable completion without the bash-completion package, in one function table. */
import { SIGNALS } from "../../../shared/linux/index.ts";
import type { CommandModel, FlagModel, WordKind } from "./model.ts";

export function bashScript({ globals, verbs }: CommandModel): string {
  const named = verbs.map(({ name, flags }) => ({ verb: name, flags }));
  const all = [{ verb: "", flags: globals }, ...named];
  return [
    '# Completion of runt for bash, made by "runt completion bash".',
    "",
    "# Kind of the value of a flag: verb, flag without dashes. Fails for a switch.",
    "_runt_flag_kind() {",
    '    case "$1:$2" in',
    ...arms(all.flatMap(({ verb, flags }) => flags.flatMap((flag) => valuePatterns(verb, flag)))),
    "        *) return 1 ;;",
    "    esac",
    "}",
    "",
    "# Flags of a verb, or the global ones.",
    "_runt_flags() {",
    '    case "$1" in',
    ...all.map(({ verb, flags }) => `        ${verb || '""'}) echo "${flags.map(({ name }) => `--${name}`).join(" ")}" ;;`),
    "    esac",
    "}",
    "",
    "# Kind of a positional: verb, number of those before it.",
    "_runt_positional_kind() {",
    '    case "$1:$2" in',
    ...arms(
      verbs.flatMap(({ name, positionals }) =>
        positionals.map(({ kind, repeats }, index) => [`${name}:${repeats ? "*" : index}`, word(kind)] as const),
      ),
    ),
    "    esac",
    "}",
    "",
    "# Behind the first positional of these, words belong to another program.",
    "_runt_stops() {",
    `    case "$1" in ${
      verbs
        .filter(({ stopsAtFirst }) => stopsAtFirst)
        .map(({ name }) => name)
        .join("|") || '"-"'
    }) return 0 ;; esac`,
    "    return 1",
    "}",
    "",
    ...body(verbs.map(({ name }) => name)),
  ].join("\n");
}

function word(kind: WordKind): string {
  return typeof kind === "string" ? kind : `words ${kind.words.join(" ")}`;
}

function valuePatterns(verb: string, { name, short, placeholder, kind }: FlagModel): (readonly [string, string])[] {
  if (placeholder === undefined) return [];
  return [name, ...(short === undefined ? [] : [short])].map((spelling) => [`${verb}:${spelling}`, word(kind)] as const);
}

/** One arm for all patterns with the same answer; exact patterns before those with a star. */
function arms(rows: readonly (readonly [string, string])[]): string[] {
  const groups = new Map<string, string[]>();
  for (const [pattern, answer] of rows) groups.set(answer, [...(groups.get(answer) ?? []), pattern]);
  const lines = [...groups].flatMap(([answer, patterns]) => {
    const exact = patterns.filter((pattern) => !pattern.includes("*"));
    const open = patterns.filter((pattern) => pattern.includes("*"));
    return [exact, open].filter((list) => list.length > 0).map((list) => `        ${list.join(" | ")}) echo "${answer}" ;;`);
  });
  return [...lines.filter((line) => !line.includes("*)")), ...lines.filter((line) => line.includes("*)"))];
}

function body(verbs: readonly string[]): string[] {
  return [
    "# Words of this kind that begin with what is typed.",
    "_runt_offer() {",
    "    local kind=$1 typed=$2 line",
    "    shift 2",
    "    case $kind in",
    "        container)",
    "            while IFS= read -r line; do",
    '                [[ $line == "$typed"* && $line != *[!A-Za-z0-9_+.-]* ]] && COMPREPLY+=("$line")',
    '            done < <("$@" list -q 2>/dev/null) ;;',
    `        signal) mapfile -t COMPREPLY < <(compgen -W "${Object.keys(SIGNALS).join(" ")}" -- "$typed") ;;`,
    `        verb) mapfile -t COMPREPLY < <(compgen -W "${verbs.join(" ")}" -- "$typed") ;;`,
    '        words*) mapfile -t COMPREPLY < <(compgen -W "${kind#words }" -- "$typed") ;;',
    "        directory) compopt -o filenames 2>/dev/null",
    '            mapfile -t COMPREPLY < <(compgen -d -- "$typed") ;;',
    "        file) compopt -o filenames 2>/dev/null",
    '            mapfile -t COMPREPLY < <(compgen -f -- "$typed") ;;',
    "    esac",
    "}",
    "",
    "_runt() {",
    "    local typed=${COMP_WORDS[COMP_CWORD]} verb= flag= word i count=0",
    '    local -a runt=("${COMP_WORDS[0]/#\\~/$HOME}")',
    "    COMPREPLY=()",
    "    for ((i = 1; i < COMP_CWORD; i++)); do",
    "        word=${COMP_WORDS[i]}",
    "        # --flag=value comes as three words: = is in COMP_WORDBREAKS.",
    "        if [[ $word == = ]]; then",
    '            flag=${flag:-"="}',
    "        elif [[ -n $flag ]]; then",
    '            [[ -z $verb && $flag == root ]] && runt+=(--root "$word")',
    "            flag=",
    "        elif [[ $word == -?* ]]; then",
    "            word=${word#-}",
    "            word=${word#-}",
    '            _runt_flag_kind "$verb" "$word" >/dev/null && flag=$word',
    "        elif [[ -z $verb ]]; then",
    "            verb=$word",
    "        else",
    "            ((count++))",
    '            _runt_stops "$verb" && return',
    "        fi",
    "    done",
    '    [[ $typed == = ]] && typed= && flag=${flag:-"="}',
    "    if [[ -n $flag ]]; then",
    '        _runt_offer "$(_runt_flag_kind "$verb" "$flag")" "$typed" "${runt[@]}"',
    "    elif [[ $typed == -* ]]; then",
    '        mapfile -t COMPREPLY < <(compgen -W "$(_runt_flags "$verb")" -- "$typed")',
    "    elif [[ -z $verb ]]; then",
    '        _runt_offer verb "$typed"',
    "    else",
    '        _runt_offer "$(_runt_positional_kind "$verb" "$count")" "$typed" "${runt[@]}"',
    "    fi",
    "}",
    "",
    "complete -F _runt runt",
    "",
  ];
}
