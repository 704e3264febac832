/** Translates the documents of a file (pods, workloads, ConfigMaps and Secrets) into tasks. */
import type { z } from "zod";
import {
  checkGroup,
  type Finding,
  type ParsedFile,
  parsedFile,
  type ReadDocument,
  shapeProblems,
  type TaskSpec,
} from "../../engine/spec/index.ts";
import { Expansion } from "../expansion.ts";
import { withoutNulls } from "../nulls.ts";
import { configMap, secret } from "../schema/config.ts";
import { type PodInput, pod } from "../schema/pod.ts";
import { deployment, job, type WorkloadInput } from "../schema/workload.ts";
import { Objects } from "./objects.ts";
import { translate } from "./pod.ts";
import { type PodHost, Translation } from "./translation.ts";
import { type JobRules, pathInWorkload, podsOf, workloadProblems } from "./workload.ts";

type Input = PodInput | WorkloadInput | z.output<typeof configMap> | z.output<typeof secret>;

const SCHEMAS: Readonly<Record<string, z.ZodType<Input>>> = {
  Pod: pod,
  Deployment: deployment,
  Job: job,
  ConfigMap: configMap,
  Secret: secret,
};

interface Read {
  /** Converts a problem of the pod to a finding with its position in the file. */
  readonly place: ReadDocument["place"];
  readonly written: unknown;
  readonly pod: PodInput;
  readonly job?: JobRules | undefined;
}

export function podsIn(documents: readonly ReadDocument[], host: PodHost): ParsedFile {
  const objects = new Objects();
  const findings: Finding[] = [];
  const pods: Read[] = [];
  for (const document of documents.flatMap(objectsOf)) {
    findings.push(...document.findings);
    if (document.findings.length > 0) continue;
    const written = withoutNulls(document.value);
    const schema = schemaOf(written);
    if (typeof schema === "string") {
      findings.push(document.place({ code: "shape", message: schema, path: ["kind"] }));
      continue;
    }
    const parsed = schema.safeParse(written);
    if (!parsed.success) findings.push(...shapeProblems(parsed.error).map(document.place));
    else if (parsed.data.kind === "Pod") pods.push({ place: document.place, written, pod: parsed.data });
    else if (parsed.data.kind === "Deployment" || parsed.data.kind === "Job") {
      const { found, problems } = workloadPods(parsed.data, document);
      pods.push(...found);
      findings.push(...problems);
    } else if (!objects.add(parsed.data)) {
      const message = `the ${parsed.data.kind} ${parsed.data.metadata.name} is there twice`;
      findings.push(document.place({ code: "duplicate-name", message, path: ["metadata", "name"] }));
    }
  }
  if (findings.length > 0) return parsedFile([], findings);
  if (pods.length === 0)
    return parsedFile([], [documents[0]!.place({ code: "shape", message: "the file has no pod in it", path: ["kind"] })]);
  return tasksOf(pods, objects, host);
}

/** The items of a List, each as a document of its own; for any other kind the document itself. Source: Kubernetes, API conventions, "List". */
function objectsOf(document: ReadDocument): readonly ReadDocument[] {
  const { apiVersion, kind, items, ...others } = (document.value ?? {}) as Readonly<Record<string, unknown>>;
  if (apiVersion !== "v1" || kind !== "List" || !Array.isArray(items)) return [document];
  const further = Object.keys(others).filter((key) => key !== "metadata");
  const problems = further.map((key) => document.place({ code: "shape", message: `the field "${key}" is not supported`, path: [key] }));
  return items.map((value, index) => ({
    value,
    findings: index === 0 ? problems : [],
    tagged: [],
    place: (problem) => document.place({ ...problem, path: ["items", index, ...problem.path] }),
  }));
}

/** All pods of a workload have the same template, so that a problem of the template is reported once. */
function workloadPods(workload: WorkloadInput, document: ReadDocument): { readonly found: Read[]; readonly problems: Finding[] } {
  const place: ReadDocument["place"] = (problem) => document.place({ ...problem, path: pathInWorkload(problem.path) });
  const problems = workloadProblems(workload).map(document.place);
  const found: Read[] = [];
  for (const { written, job: rules } of podsOf(workload)) {
    const parsed = pod.safeParse(written);
    if (!parsed.success) return { found: [], problems: [...problems, ...shapeProblems(parsed.error).map(place)] };
    found.push({ place, written, pod: parsed.data, job: rules });
  }
  return { found, problems };
}

/** The error message of an unsupported kind. */
function schemaOf(written: unknown) {
  const { kind } = (typeof written === "object" && written !== null ? written : {}) as { readonly kind?: unknown };
  const schema = typeof kind === "string" && Object.hasOwn(SCHEMAS, kind) ? SCHEMAS[kind] : undefined;
  return schema ?? `documents of kind ${String(kind)} are not supported: only ${Object.keys(SCHEMAS).join(", ")}`;
}

function tasksOf(pods: readonly Read[], objects: Objects, host: PodHost): ParsedFile {
  const findings: Finding[] = [];
  const tasks: TaskSpec[] = [];
  const expansion = new Expansion();
  for (const { place, written, pod: one, job: rules } of pods) {
    const { task, problems } = translate(new Translation(one, objects, host, expansion, rules), written);
    findings.push(...problems.map(place));
    if (task !== undefined) tasks.push(task);
  }
  if (findings.length === 0) {
    for (const { task, ...problem } of checkGroup(tasks)) findings.push(pods[task]!.place({ ...problem, path: ["metadata", "name"] }));
  }
  return parsedFile(tasks, findings);
}
