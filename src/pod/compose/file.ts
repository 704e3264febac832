/** Translates a Compose file into tasks, one for each service and replica. */

import {
  checkGroup,
  checkTask,
  type Finding,
  type ParsedFile,
  type Problem,
  parsedFile,
  pathOf,
  shapeProblems,
  type TaskInput,
  type TaskSpec,
  taskSchema,
  withTemplate,
} from "../../engine/spec/index.ts";
import { withProposal } from "../proposal.ts";
import { buildOf, builtNames, inOrder, type ServiceBuild } from "./build.ts";
import { isMap } from "./fields.ts";
import { ignoredIn } from "./ignored.ts";
import { joined, type Made, networkOwner, placesIn, withLenders } from "./joined.ts";
import { joining } from "./joining.ts";
import { expanded, withSharedVolumes } from "./lent.ts";
import type { ComposeOptions, Model } from "./model.ts";
import { withNamedModes } from "./named-mode.ts";
import { externalsIn } from "./networks.ts";
import { once, servicesWith } from "./once.ts";
import { placeIn } from "./origin.ts";
import { engineName, type ServicePlace } from "./place.ts";
import { withSharedPorts } from "./ports.ts";
import { withoutEmptyTexts, withoutExtensions } from "./prepare.ts";
import { normalName } from "./project-name.ts";
import { type ComposeInput, composeFile } from "./schema.ts";
import { taskOf } from "./service.ts";
import { ownPort, templateOf } from "./template.ts";
import { isOfUnused, tellNames, withNamesOnly } from "./unused.ts";

export interface ComposeFile extends ParsedFile {
  /** The tasks in the format of a task file. Empty if there are findings. */
  readonly inputs: readonly TaskInput[];
  /** Name of the project; undefined if the file does not set it. */
  readonly name: string | undefined;
  /** Fields that are accepted, but have no effect, or not the effect that the author may expect. */
  readonly warnings: readonly Finding[];
  /** Host directories that Compose would create if they are missing. */
  readonly directories: readonly string[];
  /** Images to build, in this order. */
  readonly builds: readonly ServiceBuild[];
  /** Host-wide networks that the services use and that the file does not make. */
  readonly externals: readonly string[];
  /** Converts a finding about one of the inputs (as a document of its own) to one about this file. */
  origin(finding: Finding): Finding;
}

/** The result for a file that has no tasks because of findings. */
export function failed(findings: readonly Finding[], warnings: readonly Finding[] = []): ComposeFile {
  const nothing = { inputs: [], name: undefined, directories: [], builds: [], externals: [] };
  return { ...parsedFile([], findings), ...nothing, warnings, origin: (finding) => finding };
}

export function tasksOfCompose({ value, problems, warnings, place }: Model, options: ComposeOptions): ComposeFile {
  const told: Problem[] = [...problems];
  const said: Problem[] = [...warnings];
  const { data: given, wrong } = parsed(withNamesOnly(withoutEmptyTexts(withoutExtensions(value)), said));
  for (const problem of wrong)
    if (isOfUnused(problem, value)) said.push({ ...problem, message: `${problem.message}. No service uses it` });
    else add(told, withProposal(composeFile, problem));
  const placed = (all: readonly Problem[]) => once(all.map(place));
  if (given === undefined) return failed(placed(told), placed(said));
  const data = withNamedModes(given);
  tellNames(value, said);
  const directories = new Set<string>();
  const found: Problem[] = [];
  const builds: ServiceBuild[] = [];
  const made = madeOf(data, options, { problems: found, warnings: said, directories, builds });
  const checked = checkedTasks(made, found);
  // If the base of a service is missing, further problems of the service are left out, because they may be consequences. The service of a provider has no image.
  const [incomplete, provided] = [servicesWith("extends", told), servicesWith("provider", told)];
  // Without a network that is wrong itself, what services say of it cannot be judged.
  const isNetworkWrong = told.some(({ path: [kind] }) => kind === "networks");
  const isConsequence = ({ path: [, name, field] }: Problem) =>
    incomplete.has(name) || (field === "image" && provided.has(name)) || (field === "networks" && isNetworkWrong);
  for (const problem of found) if (!isConsequence(problem)) add(told, problem);
  said.push(...ignoredIn(data, Object.fromEntries(made.flatMap(({ keys }) => keys).map((key) => [key, data.services[key]]))));
  if (told.length > 0) return failed(placed(told), placed(said));
  const origin = ({ code, message, pointer, document: index }: Finding) =>
    place({ code, message, path: placeIn(made[index]!, pathOf(pointer)) });
  return {
    ...parsedFile(checked, []),
    inputs: made.map(({ input }) => input),
    name: normalName(data.name ?? "") || undefined,
    warnings: placed(said),
    directories: [...directories],
    builds: inOrder(builds),
    externals: externalsIn(
      made.map(({ input }) => input),
      data,
    ),
    origin,
  };
}

/** Adds a problem, unless there is one at the same place, above or below it: one may be a consequence of the other. */
function add(told: Problem[], problem: Problem): void {
  const isTold = told.some(({ path }) => path.every((part, at) => at >= problem.path.length || String(part) === String(problem.path[at])));
  if (!isTold || problem.path.length === 0) told.push(problem);
}

/** Number of attempts to read the file, each without the fields that were wrong in the one before. */
const MOST_TRIES = 5;

/** Reads the data without the fields that are wrong, so that the rest can be checked, too. */
function parsed(value: unknown): { readonly data: ComposeInput | undefined; readonly wrong: readonly Problem[] } {
  const wrong: Problem[] = [];
  let rest = value;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const result = composeFile.safeParse(rest);
    if (result.success) return { data: result.data, wrong };
    const problems = shapeProblems(result.error);
    wrong.push(...problems);
    if (problems.some(({ path }) => path.length === 0)) break;
    for (const { path } of problems) rest = without(rest, path);
  }
  return { data: undefined, wrong };
}

function without(value: unknown, [part, ...rest]: Problem["path"]): unknown {
  if (Array.isArray(value))
    return value.map((one, index) => (index === Number(part) ? without(one, rest) : one)).filter((one) => one !== undefined);
  if (part === undefined || !isMap(value) || !Object.hasOwn(value, String(part))) return undefined;
  const inner = rest.length === 0 ? undefined : without(value[String(part)], rest);
  return Object.fromEntries(Object.entries({ ...value, [String(part)]: inner }).filter(([, one]) => one !== undefined));
}

interface Told {
  readonly problems: Problem[];
  readonly warnings: Problem[];
  readonly directories: Set<string>;
  readonly builds: ServiceBuild[];
}

function madeOf(given: ComposeInput, options: ComposeOptions, { problems, warnings, directories, builds }: Told): Made[] {
  const project = withSharedVolumes(withLenders(given));
  const isOn = (key: string) => {
    const { profiles = [] } = project.services[key] ?? {};
    const isNamed = (one: string) => options.profiles.includes(one);
    return Object.hasOwn(project.services, key) && (profiles.length === 0 || isNamed("*") || profiles.some(isNamed));
  };
  const containersOf = (key: string) => placesIn(key, project);
  const refuseAt = (key: string) => (message: string, at: Problem["path"]) => {
    problems.push({ code: "combination", message, path: ["services", key, ...at] });
  };
  const active = Object.keys(project.services).filter(isOn);
  const nameOf = builtNames(project, active, options);
  const placeOf = (key: string): ServicePlace => {
    const refuse = refuseAt(key);
    const warn = (message: string, at: Problem["path"]) => {
      warnings.push({ code: "combination", message, path: ["services", key, ...at] });
    };
    const lacks = options.mayLack
      ? (message: string, at: Problem["path"]) => warn(`${message}: here runtctl apply refuses it`, at)
      : refuse;
    const { environment, directory, images, readFile } = options;
    const needs = (one: string) => directories.add(one);
    return { environment, directory, images, readFile, refuse, lacks, warn, needs, isActive: isOn, containersOf, built: nameOf(key) };
  };
  const build = (key: string) => {
    if (builds.some((one) => one.service === key)) return;
    const one = buildOf(key, project.services[key]!, project, placeOf(key));
    if (one !== undefined) builds.push(one);
    for (const other of one?.after ?? []) build(other);
  };
  const made = active.flatMap((key): Made[] => {
    const place = placeOf(key);
    const { refuse } = place;
    build(key);
    const service = expanded(key, project.services[key]!, project, place);
    const isJoined = networkOwner(key, project) !== undefined;
    const places = containersOf(key);
    if (places.length > 1 && service.container_name !== undefined)
      refuse("is of one container, and the service has several", ["container_name"]);
    const names = [...(service.container_name === undefined ? [] : [service.container_name]), ...linkedAs(key, project)];
    const inputs = places.map(({ task, container }, at): Made => {
      const others = isJoined ? [] : [...(task === key ? [] : [key]), ...names];
      const replica = { of: engineName(key), index: at + 1 };
      return { keys: [key], input: taskOf(service, project, { ...place, task, container, names: [...new Set(others)], replica }) };
    });
    if (inputs.length > 1 && inputs.some(({ input: { network } }) => network?.address ?? network?.further?.some((one) => one.address)))
      refuse(`an address can be that of one container, and the service has ${inputs.length}`, ["networks"]);
    const shared = (input: TaskInput, count: number, deny: ServicePlace["refuse"]) =>
      withSharedPorts(input, service, { name: engineName(key), count, refuse: deny });
    const all = inputs.map((one) => ({ ...one, input: shared(one.input, inputs.length, refuse) }));
    const [first, ...rest] = all;
    if (first === undefined || first.input.update === undefined) return all;
    const further = templateOf(engineName(key), (at, deny) => {
      const named = { ...at, names: [key, ...names], replica: { of: engineName(key), index: 0 } };
      const quiet = { ...place, refuse: deny, lacks: deny, warn: () => {}, needs: () => {} };
      if (service.container_name !== undefined) deny("container_name is the name of one container", []);
      return shared(taskOf(service, project, { ...quiet, ...named }), Math.max(2, all.length), deny);
    });
    return [{ ...first, input: withTemplate(first.input, ownPort(first.input) ?? further) }, ...rest];
  });
  return joining(
    joined(made, project, isOn, refuseAt, (key) => placeOf(key).warn),
    project,
    refuseAt,
  );
}

/** Names that other services give to this one with `links`. */
function linkedAs(key: string, { services }: ComposeInput): string[] {
  return Object.values(services).flatMap(({ links = [] }) =>
    links.flatMap((link) => {
      const [service, alias = key] = link.split(":");
      return service === key && alias !== key ? [alias] : [];
    }),
  );
}

function checkedTasks(made: readonly Made[], problems: Problem[]): TaskSpec[] {
  const tasks: { readonly one: Made; readonly spec: TaskSpec }[] = [];
  const seen = new Set<string>();
  const tell = (of: Made, { path, ...problem }: Problem) => {
    const one = { ...problem, path: placeIn(of, path) };
    // All replicas have the same problem.
    const text = JSON.stringify(one);
    if (seen.size < seen.add(text).size) problems.push(one);
  };
  for (const one of made) {
    const result = taskSchema.safeParse(one.input);
    for (const problem of result.success ? checkTask(result.data) : shapeProblems(result.error)) tell(one, problem);
    if (result.success) tasks.push({ one, spec: result.data });
  }
  const specs = tasks.map(({ spec }) => spec);
  // If a task is missing, dependencies on it would be reported as wrong.
  if (tasks.length === made.length) for (const { task, ...problem } of checkGroup(specs)) tell(tasks[task]!.one, problem);
  return specs;
}
