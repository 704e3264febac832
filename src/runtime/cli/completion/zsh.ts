/** The script for zsh(1): a function of the completion system (zshcompsys), for fpath or for `source`. */
import { SIGNALS } from "../../../shared/linux/index.ts";
import type { CommandModel, FlagModel, VerbModel, WordKind } from "./model.ts";

export function zshScript({ globals, verbs }: CommandModel): string {
  return [
    "#compdef runt",
    '# Completion of runt for zsh, made by "runt completion zsh".',
    "",
    "_runt_containers() {",
    "    local -a ids",
    '    ids=(${(f)"$(_call_program containers "${runt_command[@]}" list -q 2>/dev/null)"})',
    "    (( $#ids )) && _wanted containers expl container compadd -a ids",
    "}",
    "",
    "_runt_verbs() {",
    "    local -a verbs=(",
    ...verbs.map(({ name, summary }) => `        ${quote(`${name}:${summary}`)}`),
    "    )",
    "    _describe -t commands command verbs",
    "}",
    "",
    "_runt() {",
    "    local curcontext=$curcontext state line expl",
    "    local -a runt_command=(${(q)words[1]})",
    "    typeset -A opt_args",
    "    _arguments -C \\",
    ...globals.map((flag) => `        ${flagSpec(flag)} \\`),
    "        '1: :_runt_verbs' '*:: :->rest'",
    "    [[ $state == rest ]] || return",
    "    [[ -n ${opt_args[--root]} ]] && runt_command+=(--root ${opt_args[--root]})",
    "    case $words[1] in",
    ...verbs.flatMap(verbCase),
    "    esac",
    "}",
    "",
    "# Found in fpath the file is the function; sourced, it defines it.",
    'if [[ ${funcstack[1]} == _runt ]]; then _runt "$@"; else compdef _runt runt; fi',
    "",
  ].join("\n");
}

function verbCase({ name, flags, positionals, stopsAtFirst }: VerbModel): string[] {
  const words = positionals.map(({ name: what, kind, repeats }, index) =>
    quote(`${repeats ? (stopsAtFirst ? "*:" : "*") : index + 1}:${escapeColons(what.replace(/\.+$/, ""))}:${action(kind)}`),
  );
  return [
    `        ${name})`,
    `            _arguments ${[...(stopsAtFirst ? ["-A '-*'"] : []), ...flags.map(flagSpec), ...words].join(" \\\n                ")}`,
    "            ;;",
  ];
}

/** `'(-b --bundle)'{-b+,--bundle=}'[help]:DIR:_files -/'` */
function flagSpec({ name, short, help, placeholder, kind, repeatable }: FlagModel): string {
  const tail = quote(
    `[${help.replace(/[[\]\\]/g, "\\$&").replaceAll(":", "\\:")}]${placeholder === undefined ? "" : `:${escapeColons(placeholder)}:${action(kind)}`}`,
  );
  const long = `--${name}${placeholder === undefined ? "" : "="}`;
  if (short === undefined) return `${repeatable ? "\\*" : ""}${long}${tail}`;
  const both = `{-${short}${placeholder === undefined ? "" : "+"},${long}}${tail}`;
  return repeatable ? `\\*${both}` : `'(-${short} --${name})'${both}`;
}

function action(kind: WordKind): string {
  if (typeof kind !== "string") return `(${kind.words.join(" ")})`;
  switch (kind) {
    case "container":
      return "_runt_containers";
    case "signal":
      return `(${Object.keys(SIGNALS).join(" ")})`;
    case "directory":
      return "_files -/";
    case "file":
      return "_files";
    case "verb":
      return "_runt_verbs";
    case "command":
    case "nothing":
      return " ";
  }
}

function escapeColons(text: string): string {
  return text.replaceAll(":", "\\:");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
