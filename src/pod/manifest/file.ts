/** Translates the documents of a file (pods, what makes pods, and what pods refer to) into tasks. */
import type { z } from "zod";
import {
  checkGroup,
  type Finding,
  type ParsedFile,
  type Problem,
  parsedFile,
  type ReadDocument,
  shapeProblems,
  type TaskSpec,
  withTemplate,
} from "../../engine/spec/index.ts";
import { Expansion } from "../expansion.ts";
import { withoutNulls } from "../nulls.ts";
import { withProposal } from "../proposal.ts";
import { claim, persistentVolume } from "../schema/claim.ts";
import { configMap, secret } from "../schema/config.ts";
import { permitsEverything } from "../schema/network-policy.ts";
import { type PodInput, pod } from "../schema/pod.ts";
import { namespace, service, serviceAccount } from "../schema/service.ts";
import { type WorkloadInput, workloads } from "../schema/workload.ts";
import { uidOf, uidText } from "../uid.ts";
import { NO_TOKEN } from "./accounts.ts";
import { Claims } from "./claims.ts";
import { foreignKind, withoutClusterFields } from "./cluster-fields.ts";
import { withGeneratedName } from "./generated-name.ts";
import { Objects } from "./objects.ts";
import { placementProblems } from "./placement.ts";
import { translate } from "./pod.ts";
import { Services } from "./services.ts";
import { workloadWarnings } from "./strategy.ts";
import { type FileParts, type PodHost, Translation } from "./translation.ts";
import { type PodRules, pathInWorkload, podsOf, templateOf, type WorkloadTemplate, workloadProblems } from "./workload.ts";

/** The schema of each kind of document. */
export const SCHEMAS = {
  Pod: pod,
  ...workloads,
  ConfigMap: configMap,
  Secret: secret,
  Service: service,
  PersistentVolumeClaim: claim,
  PersistentVolume: persistentVolume,
  Namespace: namespace,
  ServiceAccount: serviceAccount,
};

type Input = z.output<(typeof SCHEMAS)[keyof typeof SCHEMAS]>;
type Place = (problem: Problem) => void;

interface Read {
  /** Converts a problem of the pod to a finding with its position in the file. */
  readonly place: ReadDocument["place"];
  readonly written: unknown;
  readonly pod: PodInput;
  readonly rules?: PodRules;
}

/** A workload whose number of pods may be changed later. */
interface Template {
  readonly workload: WorkloadInput;
  readonly made: WorkloadTemplate;
  /** Its first pod. */
  readonly first: Read;
}

export function podsIn(documents: readonly ReadDocument[], host: PodHost): ParsedFile {
  const file = new PodFile(host, documents);
  for (const document of documents.flatMap(objectsOf)) file.add(document);
  return file.tasks();
}

/** The items of a List, each as a document of its own, also of a List in a List; for any other kind the document itself. Source: Kubernetes, API conventions, "List". */
function objectsOf(document: ReadDocument): readonly ReadDocument[] {
  const { apiVersion, kind, items, ...others } = (document.value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof kind !== "string" || !kind.endsWith("List") || !Array.isArray(items)) return [document];
  // Items of a PodList and the like need not say what they are.
  const missing = kind === "List" ? {} : { apiVersion, kind: kind.slice(0, -"List".length) };
  const further = Object.keys(others).filter((key) => key !== "metadata");
  const problems = further.map((key) => document.place({ code: "shape", message: `the field "${key}" is not supported`, path: [key] }));
  if (problems.length > 0) return [{ ...document, findings: [...document.findings, ...problems] }];
  return items.flatMap((value: unknown, index) =>
    objectsOf({
      value: typeof value === "object" && value !== null ? { ...missing, ...value } : value,
      findings: [],
      tagged: [],
      place: (problem) => document.place({ ...problem, path: ["items", index, ...problem.path] }),
    }),
  );
}

class PodFile {
  readonly #parts: FileParts;
  readonly #findings: Finding[] = [];
  readonly #warnings: Finding[] = [];
  readonly #pods: Read[] = [];
  readonly #templates: Template[] = [];
  readonly #generated = new Map<string, number>();
  readonly #told = new Set<string>();
  /** Where a finding about the whole file is placed. */
  readonly #begin: ReadDocument | undefined;

  constructor(host: PodHost, documents: readonly ReadDocument[]) {
    this.#begin = documents[0];
    this.#warnings.push(...documents.flatMap(({ repeated = [] }) => repeated));
    this.#parts = {
      objects: new Objects(),
      claims: new Claims(),
      services: new Services(host.machines),
      host,
      expansion: new Expansion(),
      devices: new Map(),
    };
  }

  add(document: ReadDocument): void {
    this.#findings.push(...document.findings);
    if (document.findings.length > 0) return;
    const { kind } = (typeof document.value === "object" && document.value !== null ? document.value : {}) as { readonly kind?: unknown };
    const written = withGeneratedName(withoutNulls(document.value, mapsOf(kind)), this.#generated);
    const refuse: Place = (problem) => this.#findings.push(document.place(problem));
    const warn: Place = (problem) => this.#warnings.push(document.place(problem));
    const isIgnored = this.#parts.host.ignoresClusterFields === true;
    if (permitsEverything(written)) return;
    if (typeof kind !== "string" || !Object.hasOwn(SCHEMAS, kind)) {
      const { problem, isError } = foreignKind(kind, isIgnored, Object.keys(SCHEMAS));
      (isError ? refuse : warn)(problem);
      return;
    }
    const { value, ignored } = isIgnored ? withoutClusterFields(written, kind, this.#parts.host) : { value: written, ignored: [] };
    ignored.forEach(warn);
    if (value === undefined) return;
    const schema = SCHEMAS[kind as keyof typeof SCHEMAS] as z.ZodType<Input>;
    const parsed = schema.safeParse(value);
    if (!parsed.success) {
      const placed = kind === "Pod" ? this.#placementProblems(value, parsed.error) : [];
      for (const problem of [...placed, ...shapeProblems(parsed.error)]) refuse(withProposal(schema, problem));
    } else if (!this.#take(parsed.data, { document, value, refuse, warn })) {
      const message = `the ${parsed.data.kind} ${parsed.data.metadata.name} is there twice`;
      refuse({ code: "duplicate-name", message, path: ["metadata", "name"] });
    }
  }

  /** Beside problems of the shape: a misspelt field hides no other problem. @param written a pod */
  #placementProblems(written: unknown, { issues }: z.ZodError): Problem[] {
    const isWrong = (path: Problem["path"]) => issues.some((one) => path.every((part, index) => one.path[index] === part));
    return placementProblems(written, this.#parts.host).filter(({ path }) => !isWrong(path));
  }

  /** Returns false if there already is an object of this kind with its name. Pods of one name are found by the engine's checks. */
  #take(
    input: Input,
    { document, value, refuse, warn }: Readonly<{ document: ReadDocument; value: unknown; refuse: Place; warn: Place }>,
  ): boolean {
    const { objects, claims, services } = this.#parts;
    switch (input.kind) {
      case "Pod":
        this.#pods.push({ place: document.place, written: value, pod: input });
        return true;
      case "ConfigMap":
      case "Secret":
        return objects.add(input);
      case "Service":
        return services.add(input, refuse, warn);
      case "PersistentVolume":
        return claims.addVolume(input, warn);
      case "PersistentVolumeClaim":
        tellOfSize(input.spec.resources, (problem) => warn({ ...problem, path: ["spec", ...problem.path] }));
        return claims.add(input.metadata.namespace ?? "default", input.metadata.name, {
          spec: input.spec,
          place: this.#withoutVolume(refuse, warn),
          warn,
        });
      case "ServiceAccount":
        objects.addAccount(input.metadata.namespace ?? "default", input.metadata.name);
        if (input.automountServiceAccountToken === true) warn({ code: "shape", message: NO_TOKEN, path: ["automountServiceAccountToken"] });
        return true;
      case "Namespace":
        return true;
      default:
        this.#expand(input, document, { refuse, warn });
        return true;
    }
  }

  /** What becomes of a claim that names a volume which the file does not have. */
  #withoutVolume(refuse: Place, warn: Place): Place {
    const isIgnored = this.#parts.host.ignoresClusterFields === true;
    const what = isIgnored
      ? "the claim is an empty directory of the group"
      : "--ignore-cluster-fields takes an empty directory of the group in its place";
    return (problem) => (isIgnored ? warn : refuse)({ ...problem, message: `${problem.message}; ${what}` });
  }

  /** All pods of a workload have the same template, so that a problem of the template is reported once. */
  #expand(workload: WorkloadInput, document: ReadDocument, { refuse, warn }: Readonly<Record<"refuse" | "warn", Place>>): void {
    workloadProblems(workload).forEach(refuse);
    workloadWarnings(workload).forEach(warn);
    if (workload.kind === "Job" && (workload.spec.suspend || workload.spec.parallelism === 0))
      warn({ code: "shape", message: "the job is suspended: no pods of it are made", path: ["spec"] });
    if (workload.kind === "StatefulSet")
      for (const [index, { metadata, spec }] of workload.spec.volumeClaimTemplates.entries()) {
        const path = ["spec", "volumeClaimTemplates", index, "spec"];
        tellOfSize(spec.resources, (problem) => warn({ ...problem, path: [...path, ...problem.path] }));
        for (const { written } of podsOf(workload))
          this.#parts.claims.add(
            workload.metadata.namespace ?? "default",
            `${metadata.name}-${(written["metadata"] as { name: string }).name}`,
            {
              spec,
              place: (problem) => this.#withoutVolume(refuse, warn)({ ...problem, path: [...path, ...problem.path.slice(1)] }),
              warn,
            },
          );
      }
    const place: ReadDocument["place"] = (problem) => document.place({ ...problem, path: pathInWorkload(workload.kind, problem.path) });
    const found: Read[] = [];
    for (const { written, rules } of podsOf(workload)) {
      const parsed = pod.safeParse(written);
      if (!parsed.success) {
        const problems = [...this.#placementProblems(written, parsed.error), ...shapeProblems(parsed.error)];
        this.#findings.push(...problems.map((problem) => place(withProposal(pod, problem))));
        return;
      }
      found.push({ place, written, pod: parsed.data, rules });
    }
    this.#pods.push(...found);
    const made = templateOf(workload);
    if (made !== undefined && found[0] !== undefined) this.#templates.push({ workload, made, first: found[0] });
  }

  tasks(): ParsedFile {
    if (this.#findings.length > 0) return parsedFile([], this.#findings, this.#warnings);
    this.#parts.claims.bind(this.#pods.map((one) => one.pod));
    this.#parts.services.select(this.#pods.map((one) => one.pod));
    if (this.#pods.length === 0 && this.#findings.length === 0)
      this.#warnings.push(this.#begin!.place({ code: "shape", message: "the file has no pod in it: nothing runs", path: ["kind"] }));
    const tasks: TaskSpec[] = [];
    for (const read of this.#pods) {
      const { task, problems, warnings } = translate(new Translation(read.pod, this.#parts, read.rules), read.written);
      this.#findings.push(...this.#first(problems.map(read.place)));
      this.#warnings.push(...this.#first(warnings.map(read.place)));
      const template = this.#templates.find(({ first }) => first === read);
      if (task !== undefined) tasks.push(template === undefined ? task : this.#withTemplate(task, template));
    }
    if (this.#findings.length === 0) {
      for (const { task, ...problem } of checkGroup(tasks))
        this.#findings.push(this.#pods[task]!.place({ ...problem, path: ["metadata", "name"] }));
    }
    return parsedFile(tasks, this.#findings, this.#warnings);
  }

  /** All pods of a template have the same problems, of which one is told. */
  #first(all: readonly Finding[]): Finding[] {
    return all.filter((one) => this.#told.size < this.#told.add(JSON.stringify([one.document, one.pointer, one.message])).size);
  }

  /** Called after claims are bound: what further pods claim is not in the file. */
  #withTemplate(first: TaskSpec, { workload, made }: Template): TaskSpec {
    const { written, rules, index, before } = made;
    const { name, namespace } = written["metadata"] as { readonly name: string; readonly namespace?: string };
    if (workload.kind === "StatefulSet")
      for (const { metadata, spec } of workload.spec.volumeClaimTemplates)
        this.#parts.claims.add(namespace ?? "default", `${metadata.name}-${name}`, { spec, place: () => {}, warn: () => {} });
    const parsed = pod.safeParse(written);
    if (!parsed.success) return withTemplate(first, { refused: `the names of further pods are too long: ${name}` });
    const devices = new Map(this.#parts.devices);
    const { input, problems } = translate(new Translation(parsed.data, { ...this.#parts, devices }, rules), written);
    if ([...devices].some(([kind, count]) => this.#parts.devices.get(kind) !== count))
      return withTemplate(first, { refused: "which devices a pod has is chosen when the file is applied: apply it with another number" });
    if (problems[0] !== undefined) return withTemplate(first, { refused: problems[0].message });
    const uuid = { value: uidOf({ name, namespace }), of: uidText({ name, namespace }) };
    return withTemplate(first, { task: input, index, before, uuid });
  }
}

/** Fields that are maps of texts. */
const MAPS = ["annotations", "binaryData", "data", "labels", "matchLabels", "nodeSelector", "options", "stringData", "volumeAttributes"];
const [OF_MOST, WITH_SELECTOR] = [new Set(MAPS), new Set([...MAPS, "selector"])];

/** In objects of other kinds `selector` is no map of texts. */
function mapsOf(kind: unknown): ReadonlySet<string> {
  return kind === "Service" || kind === "ReplicationController" ? WITH_SELECTOR : OF_MOST;
}

/** Directories of claims are not limited. */
function tellOfSize(
  { requests, limits }: Readonly<Record<"requests", { storage?: unknown }> & { limits?: { storage?: unknown } | undefined }>,
  warn: Place,
): void {
  for (const [field, given] of Object.entries({ requests, limits })) {
    if (given?.storage !== undefined)
      warn({ code: "shape", message: "has no effect: how much is in the directory is not limited", path: ["resources", field, "storage"] });
  }
}
