/** Completion scripts for shells. They ask the daemon for names of tasks, and offer no names if it does not answer. */
import type { CompletionModel, Offer, VerbModel } from "./model.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export function completionScript(shell: Shell, model: CompletionModel): string {
  return { bash, zsh, fish }[shell](model);
}

const NAMES = "runtctl get -o name 2>/dev/null";

function bash({ options, verbs }: CompletionModel): string {
  const values = (offers: readonly Offer[]) =>
    offers
      .filter(({ value }) => value !== "none")
      .map(({ words, value }) => `    ${words.join("|")}) ${replyTo(value)}; return ;;`)
      .join("\n");
  const flags = (offers: readonly Offer[]) => offers.flatMap(({ words }) => words).join(" ");
  const cases = verbs.map((verb) => {
    const all = [...verb.options, ...options];
    const operands = verb.takesTask ? `$(${NAMES})` : verb.choices.join(" ");
    return `  ${verb.name})
    case $before in
${values(all)}
    esac
    if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "${flags(all)} --help" -- "$word")); else COMPREPLY=($(compgen -W "${operands}" -- "$word")); fi ;;`;
  });
  return `# Completion of runtctl for bash, made by "runtctl completion bash".
_runtctl() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} verb= each
  COMPREPLY=()
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $each in ${verbs.map(({ name }) => name).join("|")}) verb=$each; break ;; esac
  done
  case $verb in
${cases.join("\n")}
  *)
    case $before in
${values(options)}
    esac
    COMPREPLY=($(compgen -W "${verbs.map(({ name }) => name).join(" ")} help ${flags(options)}" -- "$word")) ;;
  esac
}
complete -F _runtctl runtctl
`;
}

function replyTo(value: Offer["value"]): string {
  if (value === "file") return 'COMPREPLY=($(compgen -f -- "$word"))';
  return `COMPREPLY=($(compgen -W "${value === "any" || value === "none" ? "" : value.join(" ")}" -- "$word"))`;
}

function zsh({ options, verbs }: CompletionModel): string {
  return `#compdef runtctl
# Completion of runtctl for zsh, made by "runtctl completion zsh".
_runtctl_tasks() { local -a names; names=(\${(f)"$(${NAMES})"}); compadd -a names }
_runtctl() {
  local context state line
  local -a global=(
${options.flatMap(zshOptions).join("\n")}
  )
  _arguments -C $global '1: :->verb' '*:: :->rest'
  case $state in
  verb) local -a verbs=(
${verbs.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join("\n")}
    )
    _describe command verbs ;;
  rest) case $words[1] in
${verbs.map(zshVerb).join("\n")}
    esac ;;
  esac
}
if [ "$funcstack[1]" = _runtctl ]; then _runtctl "$@"; else compdef _runtctl runtctl; fi
`;
}

function zshVerb({ name, options, takesTask, choices }: VerbModel): string {
  const operand = takesTask ? [`'1:task:_runtctl_tasks'`] : choices.length > 0 ? [`'1: :(${choices.join(" ")})'`] : [];
  return `    ${name}) _arguments $global ${[...options.flatMap(zshOptions).map((one) => one.trim()), ...operand].join(" ")} ;;`;
}

function zshOptions({ words, value, description }: Offer): string[] {
  const text = description.replace(/[[\]:]/g, "\\$&");
  const argument = value === "none" ? "" : value === "file" ? ":file:_files" : value === "any" ? ":value: " : `:value:(${value.join(" ")})`;
  return words.map((word) => `    ${quoted(`${word}[${text}]${argument}`)}`);
}

function fish({ options, verbs }: CompletionModel): string {
  const option = ({ words, value, description }: Offer, condition: string) => {
    const flags = words.map((word) => (word.startsWith("--") ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`)).join(" ");
    const argument = value === "none" ? "" : value === "file" ? " -r -F" : value === "any" ? " -x" : ` -x -a ${quoted(value.join(" "))}`;
    return `complete -c runtctl${condition} ${flags}${argument} -d ${quoted(description)}`;
  };
  const lines = verbs.flatMap(({ name, summary, options: own, takesTask, choices }) => {
    const seen = ` -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c runtctl -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
      ...own.map((one) => option(one, seen)),
      ...(takesTask ? [`complete -c runtctl${seen} -a '(${NAMES})'`] : []),
      ...(choices.length > 0 ? [`complete -c runtctl${seen} -a ${quoted(choices.join(" "))}`] : []),
    ];
  });
  return [
    '# Completion of runtctl for fish, made by "runtctl completion fish".',
    "complete -c runtctl -f",
    ...options.map((one) => option(one, "")),
    ...lines,
    "",
  ].join("\n");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
