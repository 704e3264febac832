import { Option } from "commander";
import type { NodeView } from "../../engine/index.ts";
import { type HostFacts, nodeOf } from "../../pod/index.ts";
import { EXIT } from "../errors.ts";
import { bytes } from "../output/bar.ts";
import { field } from "../output/table.ts";
import { formatOf } from "../output/value.ts";
import { print } from "../platform/index.ts";
import { verb } from "../verb.ts";

interface Options {
  readonly output?: "json" | "yaml";
}

type Node = NodeView & { readonly host: HostFacts };

export const node = verb<Options>({
  name: "node",
  summary: "show the capacity of this host, what tasks use of it, and problems",
  description: ["With -o json and -o yaml, node prints a Kubernetes document of the kind Node."],
  examples: [["node -o yaml", "print the host like a Kubernetes node"]],
  define: (command) => command.addOption(new Option("-o, --output <format>", "output format").choices(["json", "yaml"])),
  async run({ client }, _, { output }) {
    const format = output && formatOf(output);
    const view = await client.call<Node>("GET", "/v1/node");
    const shown = nodeOf(view, view.host);
    if (format === undefined) print([...linesOf(view), ...(shown.status?.conditions ?? []).map(conditionLine)].join("\n"));
    else print(format(shown));
    return EXIT.done;
  },
});

function linesOf({ host, ledger, tasks, conditions }: Node): string[] {
  const { cpus, memoryBytes, ports, waiting } = ledger;
  return [
    field("Name", host.name),
    field("Addresses", host.addresses.join(", ") || "none"),
    field("Kernel", host.kernel),
    field("CPUs", `${cpus.capacity}, of which tasks ask for ${cpus.used}`),
    field("Memory", `${bytes(memoryBytes.capacity)}, of which tasks ask for ${bytes(memoryBytes.used)}`),
    field("Ports", ports.join(", ") || "none"),
    field("Tasks", `${tasks}, of which ${waiting} wait for room`),
    ...conditions.map(({ type, message }) => field(type, message)),
  ];
}

function conditionLine({ type, status, message }: { readonly type: string; readonly status: string; readonly message?: string }): string {
  return field(type, `${status} (${message ?? ""})`);
}
