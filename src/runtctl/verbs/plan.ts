import { Option } from "commander";
import type { TaskDifference } from "../../engine/index.ts";
import { EXIT } from "../errors.ts";
import { printable, type Style, type StyleName, styleFor } from "../output/style.ts";
import { print, stdout } from "../platform/index.ts";
import { verb } from "../verb.ts";
import { type ApplyOptions, addApplyOptions, applyOptionsOf, type NetworkOption, networksOf } from "./apply-options.ts";
import { withKnownImages } from "./build.ts";
import { addComposeOptions, fileToApply } from "./compose.ts";
import { addFileOption, type ComposeFlags, type FileOption, orFindings } from "./file.ts";

interface Options extends FileOption, ApplyOptions, NetworkOption, ComposeFlags {
  readonly output?: "json";
  readonly exitCode?: true;
}

const SIGN: Readonly<Record<TaskDifference["change"], readonly [sign: string, style: StyleName, text: string]>> = {
  created: ["+", "green", "would be started"],
  started: ["+", "green", "has ended, and would run anew"],
  updated: ["~", "yellow", "would get other limits while it runs"],
  replaced: ["~", "yellow", "would be replaced"],
  rolling: ["~", "yellow", "would be replaced by a rollout of its service"],
  removed: ["-", "red", "would be removed"],
  absent: ["-", "red", "is there, and not in the file: it stays"],
  succeeded: ["=", "dim", "has succeeded, and would not run again"],
  unchanged: ["=", "dim", "stays as it is"],
};
const NO_CHANGE: readonly TaskDifference["change"][] = ["absent", "succeeded", "unchanged"];

export const plan = verb<Options>({
  name: "plan",
  summary: "show what applying a file would change, without doing it",
  description: [
    "A task with + is new, with ~ changed, with - not in the file, and with = unchanged. Below a changed task, plan prints each field that differs, with defaults filled in. On a terminal, a field that does not fit on a line takes three.",
  ],
  examples: [["plan -f web.yaml --exit-code", "for a script: exit status 4 if something differs"]],
  define: (command) => {
    addFileOption(command);
    addApplyOptions(command);
    addComposeOptions(command);
    command
      .addOption(new Option("-o, --output <format>", "output format").choices(["json"]))
      .option("--exit-code", "exit with 4 if applying would change something");
  },
  async run({ client, givenGroup }, _, options) {
    const file = fileToApply(options, givenGroup);
    if (file === undefined) return EXIT.failed;
    const { source, origin, builds, externals, ...body } = await withKnownImages(client, file);
    const answer = await orFindings({ source, origin }, () =>
      client.call<{ tasks: TaskDifference[] }>("POST", "/v1/plan", {
        ...body,
        ...applyOptionsOf(options),
        ...networksOf(options, externals),
      }),
    );
    if (answer === undefined) return EXIT.failed;
    const { tasks } = answer;
    if (options.output === "json") print(JSON.stringify(tasks, null, 2));
    else for (const task of tasks) print(linesOf(task, styleFor(stdout), stdout.columns).join("\n"));
    const differs = tasks.some(({ change }) => !NO_CHANGE.includes(change));
    return options.exitCode && differs ? EXIT.differs : EXIT.done;
  },
});

/** @param width of the terminal, in characters; a field that does not fit on a line of it takes two more */
export function linesOf({ kind: ofPool, name, change, fields }: TaskDifference, style: Style, width = Number.POSITIVE_INFINITY): string[] {
  const kind = ofPool ?? "task";
  const [sign, colour, text] = SIGN[change];
  return [
    style(colour, `${sign} ${kind} ${name} ${kind === "pool" && change === "created" ? "would be made" : text}`),
    ...fields.flatMap((field) => {
      const { pointer } = field;
      const shown = (value: unknown) => printable(JSON.stringify(value));
      if (!("after" in field)) return [style("red", `  - ${pointer}: ${shown(field.before)}`)];
      if (!("before" in field)) return [style("green", `  + ${pointer}: ${shown(field.after)}`)];
      const line = `  ~ ${pointer}: ${shown(field.before)} -> ${shown(field.after)}`;
      if (line.length <= width) return [style("yellow", line)];
      return [
        style("yellow", `  ~ ${pointer}:`),
        style("red", `    - ${shown(field.before)}`),
        style("green", `    + ${shown(field.after)}`),
      ];
    }),
  ];
}
