/** The operator's configuration of machines: which programs and images there are, and what a caller may choose among. */
import { RuntError } from "../../errors/index.ts";
import type { Spec } from "../../spec/index.ts";
import type { MachineRequest } from "../request.ts";

export interface MachineSettings {
  /** Directory of `make guest-image`. */
  readonly image: string;
  readonly hypervisor: string;
  readonly virtiofsd: string;
  /** User and group id of the hypervisor. */
  readonly user: number;
  /** MiB of a machine whose container has no limit. */
  readonly memoryMiB: number;
  /** MiB of the emulator's translation cache. */
  readonly cacheMiB: number;
  /** The largest machine that a configuration may ask for. */
  readonly memoryMostMiB: number;
  readonly cpusMost: number;
  readonly bootSeconds: number;
  readonly accelerator: MachineRequest["accelerator"];
  /** The guest has a console, whose end is kept for people and for the reason why a machine has ended. */
  readonly console: boolean;
  /** Of the guest's kernel, in addition to those that runt needs. */
  readonly kernelParameters: readonly string[];
  /** How long the guest may keep data and metadata of files. */
  readonly fileCache: "never" | "auto" | "always";
  /** What a configuration may choose: paths instead of those above, and annotations of Kata Containers by the end of their names. */
  readonly allow: { readonly images: readonly string[]; readonly hypervisors: readonly string[]; readonly annotations: readonly string[] };
  /** Asked for by annotations only; no setting of the operator's file. */
  readonly own?: OwnSize;
}

/** What the machine has beside the limits of its containers. */
export interface OwnSize {
  /** May be a fraction. */
  readonly cpus?: number;
  readonly cpusMost?: number;
  readonly memoryMiB?: number;
}

export const DEFAULT_SETTINGS: MachineSettings = {
  image: "/usr/lib/runt/vm",
  hypervisor: "/usr/bin/qemu-system-x86_64",
  virtiofsd: "/usr/lib/qemu/virtiofsd",
  user: 65_534,
  memoryMiB: 256,
  cacheMiB: 32,
  memoryMostMiB: 65_536,
  cpusMost: 64,
  bootSeconds: 180,
  accelerator: "auto",
  console: true,
  kernelParameters: [],
  fileCache: "auto",
  allow: { images: [], hypervisors: [], annotations: [] },
};

const ACCELERATORS: readonly string[] = ["auto", "tcg", "kvm"];
export const CACHES: readonly MachineSettings["fileCache"][] = ["never", "auto", "always"];

/** `where` names the file in errors. @throws RuntError usage */
export function parseSettings(text: string, where: string): MachineSettings {
  const wrong = (what: string): RuntError => new RuntError("usage", `${where}: ${what}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new RuntError("usage", `${where}: not JSON`, { cause });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong("not an object");
  const given = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(given)) if (!Object.hasOwn(DEFAULT_SETTINGS, name)) throw wrong(`there is no setting ${name}`);
  const path = (name: "image" | "hypervisor" | "virtiofsd"): string => absolute(name, given[name] ?? DEFAULT_SETTINGS[name]);
  const absolute = (name: string, path: unknown): string => {
    if (typeof path !== "string" || !path.startsWith("/")) throw wrong(`${name} has to be an absolute path`);
    return path;
  };
  // env(1), by which both programs begin, would take it for a variable.
  const program = (name: string, path: string): string => {
    if (path.includes("=")) throw wrong(`${name} has to be a path without "="`);
    return path;
  };
  const number = (name: "user" | "memoryMiB" | "cacheMiB" | "memoryMostMiB" | "cpusMost" | "bootSeconds", least: number): number => {
    const found = given[name] ?? DEFAULT_SETTINGS[name];
    if (!Number.isInteger(found) || (found as number) < least) throw wrong(`${name} has to be a number of at least ${least}`);
    return found as number;
  };
  const texts = (name: string, found: unknown = []): string[] => {
    if (!Array.isArray(found)) throw wrong(`${name} has to be a list`);
    if (!found.every((each) => typeof each === "string")) throw wrong(`${name} has to be a list of texts`);
    return found;
  };
  const allow = (given["allow"] ?? {}) as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(allow)) if (!Object.hasOwn(DEFAULT_SETTINGS.allow, name)) throw wrong(`there is no setting allow.${name}`);
  const list = (name: "images" | "hypervisors"): string[] =>
    texts(`allow.${name}`, allow[name]).map((each) => absolute(`allow.${name}`, each));
  const accelerator = given["accelerator"] ?? DEFAULT_SETTINGS.accelerator;
  if (!ACCELERATORS.includes(accelerator as string)) throw wrong(`accelerator has to be ${ACCELERATORS.join(", ")}`);
  const fileCache = given["fileCache"] ?? DEFAULT_SETTINGS.fileCache;
  if (!CACHES.includes(fileCache as MachineSettings["fileCache"])) throw wrong(`fileCache has to be ${CACHES.join(", ")}`);
  const parameters = texts("kernelParameters", given["kernelParameters"]);
  const console = given["console"] ?? DEFAULT_SETTINGS.console;
  if (typeof console !== "boolean") throw wrong("console has to be true or false");
  return {
    image: path("image"),
    hypervisor: program("hypervisor", path("hypervisor")),
    virtiofsd: program("virtiofsd", path("virtiofsd")),
    // As root it would not be held by anything but its own sandbox.
    user: number("user", 1),
    memoryMiB: number("memoryMiB", LEAST_MIB),
    cacheMiB: number("cacheMiB", 8),
    memoryMostMiB: number("memoryMostMiB", LEAST_MIB),
    cpusMost: number("cpusMost", 1),
    bootSeconds: number("bootSeconds", 1),
    accelerator: accelerator as MachineSettings["accelerator"],
    console,
    kernelParameters: kernelParameters(parameters, (what) => wrong(`kernelParameters: ${what}`)),
    fileCache: fileCache as MachineSettings["fileCache"],
    allow: {
      images: list("images"),
      hypervisors: list("hypervisors").map((each) => program("allow.hypervisors", each)),
      annotations: texts("allow.annotations", allow["annotations"]),
    },
  };
}

/** Parameters that make the guest what runt expects: what it starts, and how it ends. "--" would end the parameters of the kernel. */
const OF_RUNT = /^(?:--|(?:init|rdinit|root|initrd|console|panic|oops|reboot|cgroup_no_v1)(?:=.*)?)$/;
/** One word of printable ASCII, without the quotation marks with which the kernel joins words. */
const PARAMETER = /^[!#-~]+$/;

/** @throws what `wrong` makes of the reason */
export function kernelParameters(words: readonly string[], wrong: (what: string) => Error): readonly string[] {
  for (const word of words) {
    if (!PARAMETER.test(word)) throw wrong(`${JSON.stringify(word)} is no single parameter of a kernel`);
    if (OF_RUNT.test(word)) throw wrong(`${word} is a parameter that runt decides`);
  }
  return words;
}

/** Below this the guest has no room for its own first process. */
export const LEAST_MIB = 128;

/** What the section `vm` of the configuration chooses (config-vm.md of the specification). @throws RuntError not-supported */
export function chooseSettings({ vm }: Spec, settings: MachineSettings): MachineSettings {
  if (vm === undefined) return settings;
  const hypervisor = member(member(vm, "hypervisor"), "path");
  const kernel = member(member(vm, "kernel"), "path");
  const refuse = (pointer: string, what: string): never => {
    throw notAllowed(pointer, what);
  };
  for (const [part, name] of [
    ["hypervisor", "parameters"],
    ["kernel", "parameters"],
    ["kernel", "initrd"],
  ] as const) {
    if (member(member(vm, part), name) !== undefined) refuse(`/vm/${part}/${name}`, `${name} of the ${part}`);
  }
  for (const part of ["image", "hwConfig"]) if (member(vm, part) !== undefined) refuse(`/vm/${part}`, `a machine's ${part}`);
  return {
    ...settings,
    ...(kernel !== undefined && { image: chooseImage(kernel, settings, "/vm/kernel/path") }),
    ...(hypervisor !== undefined && { hypervisor: chooseProgram(hypervisor, settings, "/vm/hypervisor/path") }),
  };
}

/** The image of a kernel IMAGE/boot/vmlinux. @throws RuntError not-supported */
export function chooseImage(kernel: unknown, { image: own, allow }: MachineSettings, pointer: string): string {
  const image = typeof kernel === "string" ? kernel.replace(/\/boot\/vmlinux$/, "") : undefined;
  if (image !== undefined && image !== kernel && (image === own || allow.images.includes(image))) return image;
  throw notAllowed(pointer, `the kernel ${String(kernel)}`);
}

/** @throws RuntError not-supported */
export function chooseProgram(hypervisor: unknown, { hypervisor: own, allow }: MachineSettings, pointer: string): string {
  if (typeof hypervisor === "string" && (hypervisor === own || allow.hypervisors.includes(hypervisor))) return hypervisor;
  throw notAllowed(pointer, `the hypervisor ${String(hypervisor)}`);
}

function notAllowed(pointer: string, what: string): RuntError {
  return new RuntError("not-supported", `${what}: the operator's configuration has not allowed it`, { pointer });
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
