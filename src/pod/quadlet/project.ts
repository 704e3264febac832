/** Translates the unit files of a directory to tasks: one for each pod, and one for each container without a pod. */
import {
  checkGroup,
  checkTask,
  type Finding,
  type Problem,
  pathOf,
  shapeProblems,
  type TaskInput,
  type TaskSpec,
  taskSchema,
} from "../../engine/spec/index.ts";
import { externalsIn } from "../compose/networks.ts";
import { fieldOf } from "../compose/origin.ts";
import { engineName } from "../compose/place.ts";
import { composeFile } from "../compose/schema.ts";
import { networkDraft, podmanName, volumeDraft } from "./definitions.ts";
import { needsIn } from "./dependencies.ts";
import { Draft } from "./draft.ts";
import { addMounts, type Others } from "./mounts.ts";
import { addNetworks, OF_POD } from "./networks.ts";
import { addContainer } from "./service.ts";
import { isOneShot } from "./tasks.ts";
import { type Member, memberOf, type ProjectOptions, type Scene, type Tasks, tasksOf } from "./together.ts";
import type { Told, Unit, Value } from "./unit.ts";

export interface Project {
  readonly inputs: readonly TaskInput[];
  readonly specs: readonly TaskSpec[];
  /** Networks of the whole host that others make. */
  readonly externals: readonly string[];
  /** Converts a finding about one of the inputs, each a document of its own, to one about its file. */
  origin(finding: Finding): Finding;
}

type Kind = "services" | "networks" | "volumes";

/** @param units by the names of their files; those of kind kube are not among them */
export function projectOf(units: ReadonlyMap<string, Unit>, options: ProjectOptions, told: Told): Project {
  const all = new Drafts(units);
  const needs = needsIn(units);
  for (const unit of units.values()) all.define(unit);
  for (const unit of units.values()) all.add(unit, needs.get(unit)!);
  const place = (problem: Problem): Finding => all.place(problem);
  const tell = (problem: Problem) => {
    told.findings.push(place(problem));
  };
  const parsed = composeFile.safeParse(all.value());
  if (!parsed.success) for (const problem of shapeProblems(parsed.error)) tell(problem);
  if (told.findings.length > 0 || !parsed.success) return { inputs: [], specs: [], externals: [], origin: (finding) => finding };
  const scene: Scene = { ...options, project: parsed.data, tell, warn: (problem) => told.warnings.push(place(problem)) };
  const tasks = tasksOf(all.members(), scene);
  const specs = checked(tasks, tell);
  const inputs = tasks.map(({ input }) => input);
  const origin = ({ code, message, pointer, document }: Finding) =>
    place({ code, message, path: placeIn(tasks[document]!, pathOf(pointer)) });
  return { inputs, specs, externals: externalsIn(inputs, parsed.data), origin };
}

function checked(tasks: Tasks, tell: (problem: Problem) => void): TaskSpec[] {
  const specs: TaskSpec[] = [];
  for (const one of tasks) {
    const result = taskSchema.safeParse(one.input);
    for (const { path, ...problem } of result.success ? checkTask(result.data) : shapeProblems(result.error))
      tell({ ...problem, path: placeIn(one, path) });
    if (result.success) specs.push(result.data);
  }
  if (specs.length === tasks.length)
    for (const { task, path, ...problem } of checkGroup(specs)) tell({ ...problem, path: placeIn(tasks[task]!, path) });
  return specs;
}

/** What is of no container is of the pod, or of the first one. */
function placeIn({ keys, owner }: Tasks[number], path: Problem["path"]): Problem["path"] {
  const [list, at] = path;
  return ["services", (list === "containers" && keys[Number(at)]) || owner, ...fieldOf(path)];
}

class Drafts {
  readonly #units: ReadonlyMap<string, Unit>;
  readonly #of: Readonly<Record<Kind, Map<string, Draft>>> = { services: new Map(), networks: new Map(), volumes: new Map() };
  readonly #external = new Map<string, unknown>();
  readonly #named = new Set<string>();
  readonly #members: Member[] = [];
  readonly #others: Others;
  readonly #used = new Set<Unit>();

  constructor(units: ReadonlyMap<string, Unit>) {
    this.#units = units;
    this.#others = { units, imageOf: (value, unit) => this.#imageOf(value, unit) };
  }

  define(unit: Unit): void {
    if (unit.kind === "network") this.#of.networks.set(`${unit.base}.network`, networkDraft(unit));
    const volume = unit.kind === "volume" ? volumeDraft(unit) : undefined;
    if (volume !== undefined) this.#of.volumes.set(`${unit.base}.volume`, volume);
    if (unit.kind === "image" && unit.text("Image", "Image") === undefined) unit.refuse("needs Image");
  }

  add(unit: Unit, needs: Parameters<typeof memberOf>[1]): void {
    if (unit.kind !== "container" && unit.kind !== "pod") return;
    const draft = new Draft(unit);
    const section = unit.kind === "pod" ? "Pod" : "Container";
    const pod = unit.kind === "container" ? this.#podOf(draft) : undefined;
    const place = { units: this.#units, uses: (name: string) => this.#uses(name) };
    const { owner } = pod === undefined ? addNetworks(draft, section, place) : {};
    for (const name of addMounts(draft, unit, section, this.#others)) this.#named.add(name);
    if (unit.kind === "container") addContainer(draft, this.#others);
    else this.#addPod(draft);
    isOneShot(unit);
    this.#of.services.set(keyOf(unit), draft);
    const member = memberOf(draft, needs, { pod: pod ?? owner, names: namesOf(unit) });
    this.#members.push(member);
  }

  #addPod(draft: Draft): void {
    const { unit } = draft;
    draft.take("shm_size", unit.text("Pod", "ShmSize"));
    draft.take("hostname", unit.text("Pod", "HostName"));
    for (const [name, { text, entry }] of unit.pairs("Pod", "Label")) draft.put("labels", name, text, entry);
    const exit = unit.text("Pod", "ExitPolicy");
    if (exit !== undefined && exit.text !== "stop")
      unit.refuse("only stop is supported: the task ends with its last container", exit.entry);
    draft.fields["x-runt-rootfs"] = "/";
  }

  /** undefined: it has none, or the wrong one. */
  #podOf(draft: Draft): Unit | undefined {
    const { unit } = draft;
    const value = unit.text("Container", "Pod");
    if (value === undefined) return undefined;
    const pod = value.text.endsWith(".pod") ? this.#units.get(value.text) : undefined;
    if (pod === undefined) {
      unit.refuse(value.text.endsWith(".pod") ? `there is no file ${value.text}` : "is the name of a file .pod", value.entry);
      return undefined;
    }
    for (const key of OF_POD) {
      const [given] = unit.texts("Container", key);
      if (given !== undefined) unit.refuse(`belongs to ${value.text}`, given.entry);
    }
    draft.set("network_mode", "none", value.entry);
    return pod;
  }

  #uses(name: string): string {
    const key = `${name}.external`;
    this.#external.set(key, { external: true, name });
    return key;
  }

  #imageOf({ text, entry }: Value, unit: Unit): string | undefined {
    if (text.endsWith(".build")) unit.refuse("files .build are not supported: build the image, and name it", entry);
    if (text.endsWith(".build")) return undefined;
    if (!text.endsWith(".image")) return text;
    const found = this.#units.get(text);
    if (found === undefined) unit.refuse(`there is no file ${text}`, entry);
    else this.#used.add(found);
    return found?.text("Image", "Image")?.text;
  }

  value(): unknown {
    for (const unit of this.#units.values())
      if (unit.kind === "image" && !this.#used.has(unit)) unit.warn("no file names it: the image is not pulled");
    const fieldsOf = (kind: Kind) => [...this.#of[kind]].map(([key, { fields }]) => [key, fields] as const);
    const named = [...this.#named].map((name) => [name, null] as const);
    return {
      services: Object.fromEntries(fieldsOf("services")),
      networks: Object.fromEntries([...fieldsOf("networks"), ...this.#external]),
      volumes: Object.fromEntries([...named, ...fieldsOf("volumes")]),
    };
  }

  members(): readonly Member[] {
    return this.#members;
  }

  place({ code, message, path: [kind, key, ...rest] }: Problem): Finding {
    const draft = this.#of[kind as Kind]?.get(String(key));
    const entry = draft?.entryOf(rest);
    const pointer = entry === undefined ? "" : `${entry.section}/${entry.key}`;
    const file = entry?.file ?? draft?.unit.file ?? [...this.#units.values()][0]!.file;
    return { code, message, pointer, document: 0, line: entry?.line ?? 1, column: 1, file };
  }
}

/** Of a service: containers and pods may have the same name. */
export function keyOf({ base, kind }: Unit): string {
  return `${base.replaceAll("@", "-")}.${kind}`;
}

/** Names in its networks beside that of its task. */
function namesOf(unit: Unit): string[] {
  const name = unit.kind === "pod" ? unit.text("Pod", "PodName") : unit.text("Container", "ContainerName");
  const own = name?.text ?? podmanName(unit.base.replaceAll("@", "-"));
  const task = engineName(unit.base.replaceAll("@", "-"));
  return [own, ...(task === unit.base ? [] : [unit.base.replaceAll("@", "-")])].filter((one) => one !== task);
}
