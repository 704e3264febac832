import { Argument, Option } from "commander";
import type { KeptVolumeView } from "../../engine/index.ts";
import { EXIT, UsageError } from "../errors.ts";
import { bytes } from "../output/bar.ts";
import { printable } from "../output/style.ts";
import { age, table } from "../output/table.ts";
import { formatOf } from "../output/value.ts";
import { print } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { verb } from "../verb.ts";

interface Options {
  readonly output?: "json" | "yaml";
  readonly size?: true;
  readonly unused?: true;
}

export const volumes = verb<Options>({
  name: "volumes",
  summary: "list volumes that stay when their tasks are removed, or remove those that no task names (remove)",
  description: [
    "These are the task volumes with `kept`, and the named volumes of Compose files. A stopped task uses its volumes until its retention ends. The list shows the volumes of all groups; remove works on one group.",
  ],
  examples: [
    ["volumes --size", "list the volumes with their users and sizes"],
    ["-g shop volumes remove data", "remove one volume of the group shop"],
    ["volumes remove --unused", "remove all volumes of the group that no task names"],
  ],
  define: (command) =>
    command
      .addArgument(new Argument("[action]", "what to do").choices(["list", "remove"]).default("list"))
      .argument("[name...]", "remove: names of volumes")
      .option("--unused", "remove: every volume of the group that no task names")
      .option("--size", "list: also show the size; takes longer with many files")
      .addOption(new Option("-o, --output <format>", "output format").choices(["json", "yaml"])),
  run: (session, [action, ...names], options) => (action === "remove" ? remove(session, names, options) : list(session, names, options)),
});

async function list({ client }: Session, names: readonly string[], { output, size, unused }: Options): Promise<number> {
  if (names.length > 0 || unused) throw new UsageError("names and --unused are for remove");
  const format = output && formatOf(output);
  const found = await client.call<{ volumes: readonly KeptVolumeView[] }>("GET", `/v1/volumes?size=${size === true}`, undefined, {
    isLong: size === true,
  });
  print(format ? format(found.volumes) : tableOf(found.volumes, size === true));
  return EXIT.done;
}

async function remove({ client, group }: Session, names: readonly string[], { output, size, unused }: Options): Promise<number> {
  if (size) throw new UsageError("--size is for list");
  if (names.length > 0 === (unused === true)) throw new UsageError("one of names and --unused says which volumes are meant");
  const format = output && formatOf(output);
  const body = { group, ...(unused ? { unused } : { names }) };
  const { removed } = await client.call<{ removed: readonly string[] }>("POST", "/v1/volumes/delete", body, { isLong: true });
  if (format) print(format({ removed }));
  else for (const name of removed) print(`volume ${printable(name)} deleted`);
  return EXIT.done;
}

function tableOf(all: readonly KeptVolumeView[], hasSize: boolean): string {
  const nowMs = Date.now();
  const rows = all.map(({ name, group, usedBytes, createdMs, tasks }) => [
    printable(name),
    printable(group),
    ...(hasSize ? [usedBytes === null ? "" : bytes(usedBytes)] : []),
    age(nowMs - createdMs),
    tasks.map(printable).join(", "),
  ]);
  return table(["VOLUME", "GROUP", ...(hasSize ? ["SIZE"] : []), "AGE", "USED BY"], rows);
}
