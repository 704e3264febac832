/** Everything that a version of cgroups cannot do of what is asked, not only the first: the writers of a create, with a sink that goes on. Pure. */
import type { ResourceConfig } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import type { CgroupHierarchies } from "../model.ts";
import { writeResources } from "./resources.ts";
import { createSink, type Sink } from "./sink.ts";

export interface CgroupProblem {
  readonly severity: "error" | "warning";
  /** value: no version could; field: this version cannot; controller: this host does not offer it. */
  readonly kind: "value" | "field" | "controller";
  readonly pointer: string;
  readonly message: string;
  /** undefined: what the kind says. */
  readonly remedy?: string;
}

const RESOURCES = "/linux/resources";

export function cgroupProblems(facts: CgroupHierarchies, resources: ResourceConfig, rootless: boolean): readonly CgroupProblem[] {
  const problems: CgroupProblem[] = [];
  const sink = collecting(facts, problems);
  for (const part of sections(resources)) {
    try {
      writeResources(facts.version, sink, part, { rootless });
    } catch (error) {
      if (!(error instanceof RuntError)) throw error;
      problems.push({ severity: "error", kind: "value", pointer: error.details.pointer ?? RESOURCES, message: error.message });
    }
  }
  return problems;
}

const WHOLE = ["memory", "cpu", "pids", "blockIO", "network"] as const;

/** One section at a time: what a writer throws ends it. */
function sections(resources: ResourceConfig): readonly ResourceConfig[] {
  const nothing: ResourceConfig = { hugepageLimits: [], rdma: {}, unified: {}, devices: [] };
  const { hugepageLimits, rdma, unified, devices } = resources;
  return [
    ...WHOLE.flatMap((name) => (resources[name] ? [{ ...nothing, [name]: resources[name] }] : [])),
    ...(hugepageLimits.length > 0 ? [{ ...nothing, hugepageLimits }] : []),
    ...(Object.keys(rdma).length > 0 ? [{ ...nothing, rdma }] : []),
    ...Object.entries(unified).map(([key, value]) => ({ ...nothing, unified: { [key]: value } })),
    ...(devices.length > 0 ? [{ ...nothing, devices }] : []),
  ];
}

function collecting(facts: CgroupHierarchies, problems: CgroupProblem[]): Sink {
  const inner = createSink(facts, "/x");
  const attempt = (kind: CgroupProblem["kind"], action: () => void): void => {
    try {
      action();
    } catch (error) {
      if (!(error instanceof RuntError)) throw error;
      problems.push({ severity: "error", kind, pointer: error.details.pointer ?? RESOURCES, message: error.message });
    }
  };
  const write: Sink["write"] = (...args) => attempt("controller", () => inner.write(...args));
  return {
    writes: inner.writes,
    warnings: inner.warnings,
    write,
    writeEach(controller, file, values, pointer) {
      for (const value of values) write(controller, file, value, pointer);
    },
    // The writers go on behind a refusal here: nothing of it is executed.
    refuse: ((...args: Parameters<Sink["refuse"]>) => attempt("field", () => inner.refuse(...args))) as Sink["refuse"],
    warn(pointer, message) {
      const remedy = remedyFor(pointer, message);
      problems.push({ severity: "warning", kind: "value", pointer: `${RESOURCES}/${pointer}`, message, ...(remedy && { remedy }) });
    },
  };
}

/** Of a warning that no other value would answer. */
function remedyFor(pointer: string, message: string): string | undefined {
  if (pointer === "devices") return "leave the rules out, or create the container as root";
  if (message.includes("idle")) return "leave one of them out";
  return message.includes("no effect") ? "leave it out" : undefined;
}
