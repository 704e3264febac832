/** The script for fish(1): one `complete` a flag and a positional, under a condition that knows where the cursor is. */
import { SIGNALS } from "../../../shared/linux/index.ts";
import type { CommandModel, FlagModel, VerbModel, WordKind } from "./model.ts";

export function fishScript({ globals, verbs }: CommandModel): string {
  const all = [{ name: "", flags: globals }, ...verbs];
  const withValue = all.flatMap(({ name, flags }) =>
    flags
      .filter(({ placeholder }) => placeholder !== undefined)
      .flatMap((flag) => spellings(flag).map((spelling) => `${name}:${spelling}`)),
  );
  return [
    '# Completion of runt for fish, made by "runt completion fish".',
    "",
    '# The verb ("" before it) and the number of positionals behind it, two lines.',
    "function __runt_place",
    `    set -l valued ${withValue.join(" ")}`,
    "    set -l verb ''",
    "    set -l count 0",
    "    set -l value no",
    "    for word in (commandline -opc)[2..]",
    "        if test $value = yes",
    "            set value no",
    "        else if string match -q -- '-?*' $word",
    "            string match -q -- '*=*' $word; and continue",
    "            contains -- $verb:(string replace -r -- '^--?' '' $word) $valued; and set value yes",
    "        else if test -z $verb",
    "            set verb $word",
    "        else",
    "            set count (math $count + 1)",
    "        end",
    "    end",
    "    printf '%s\\n' \"$verb\" $count",
    "end",
    "",
    "# At a flag of this verb; behind the first positional of some, words belong to another program.",
    "function __runt_in",
    "    set -l place (__runt_place)",
    '    test "$place[1]" = "$argv[1]"; or return 1',
    `    not contains -- "$argv[1]" ${verbs
      .filter(({ stopsAtFirst }) => stopsAtFirst)
      .map(({ name }) => name)
      .join(" ")}; or test $place[2] -eq 0`,
    "end",
    "",
    "# At a positional: verb, number of those before it (or + and the least number).",
    "function __runt_at",
    "    set -l place (__runt_place)",
    '    test "$place[1]" = "$argv[1]"; or return 1',
    "    if string match -q -- '+*' $argv[2]",
    "        test $place[2] -ge (string sub -s 2 -- $argv[2])",
    "    else",
    "        test $place[2] -eq $argv[2]",
    "    end",
    "end",
    "",
    "function __runt_containers",
    "    set -l words (commandline -opc)",
    "    set -l root",
    "    for i in (seq (count $words))",
    "        switch $words[$i]",
    "            case --root -root",
    "                set root --root $words[(math $i + 1)]",
    "            case '--root=*' '-root=*'",
    "                set root $words[$i]",
    "        end",
    "    end",
    "    $words[1] $root list -q 2>/dev/null",
    "end",
    "",
    "complete -c runt -f",
    ...globals.map((flag) => flagLine("", flag)),
    ...verbs.map(({ name, summary }) => `complete -c runt -n "__runt_in ''" -a ${name} -d ${quote(summary)}`),
    ...verbs.flatMap(verbLines),
    "",
  ].join("\n");
}

function verbLines({ name, flags, positionals }: VerbModel): string[] {
  return [
    ...flags.map((flag) => flagLine(name, flag)),
    ...positionals.flatMap(({ kind, repeats }, index) =>
      isEmpty(kind) ? [] : [`complete -c runt -n '__runt_at ${name} ${repeats ? "+" : ""}${index}' ${words(kind)}`],
    ),
  ];
}

function flagLine(verb: string, flag: FlagModel): string {
  const value = flag.placeholder === undefined ? "" : isEmpty(flag.kind) ? " -x" : ` -r ${words(flag.kind)}`;
  const short = flag.short === undefined ? "" : ` -s ${flag.short}`;
  return `complete -c runt -n "__runt_in '${verb}'" -l ${flag.name}${short}${value} -d ${quote(flag.help)}`;
}

function spellings({ name, short }: FlagModel): string[] {
  return [name, ...(short === undefined ? [] : [short])];
}

/** A command inside the container is not among the files of the host. */
function isEmpty(kind: WordKind): boolean {
  return kind === "nothing" || kind === "command";
}

function words(kind: WordKind): string {
  if (typeof kind !== "string") return `-f -a ${quote(kind.words.join(" "))}`;
  switch (kind) {
    case "container":
      return "-f -a '(__runt_containers)'";
    case "signal":
      return `-f -a ${quote(Object.keys(SIGNALS).join(" "))}`;
    case "verb":
      return "-f -a '(complete -C \"runt \")'";
    case "directory":
      return "-f -a '(__fish_complete_directories)'";
    default:
      return "-F";
  }
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
