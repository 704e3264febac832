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
  /** The guest's console goes to the container's stderr. */
  readonly console: boolean;
  /** Paths that a configuration may name instead. */
  readonly allow: { readonly images: readonly string[]; readonly hypervisors: readonly string[] };
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
  console: false,
  allow: { images: [], hypervisors: [] },
};

const ACCELERATORS: readonly string[] = ["auto", "tcg", "kvm"];

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
  const list = (name: "images" | "hypervisors"): string[] => {
    const found = (given["allow"] as Readonly<Record<string, unknown>> | undefined)?.[name] ?? [];
    if (!Array.isArray(found)) throw wrong(`allow.${name} has to be a list`);
    return found.map((each) => absolute(`allow.${name}`, each));
  };
  const accelerator = given["accelerator"] ?? DEFAULT_SETTINGS.accelerator;
  if (!ACCELERATORS.includes(accelerator as string)) throw wrong(`accelerator has to be ${ACCELERATORS.join(", ")}`);
  const console = given["console"] ?? false;
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
    allow: { images: list("images"), hypervisors: list("hypervisors").map((each) => program("allow.hypervisors", each)) },
  };
}

/** Below this the guest has no room for its own first process. */
export const LEAST_MIB = 128;

/** What the section `vm` of the configuration chooses (config-vm.md of the specification). @throws RuntError not-supported */
export function chooseSettings({ vm }: Spec, settings: MachineSettings): MachineSettings {
  if (vm === undefined) return settings;
  const hypervisor = member(member(vm, "hypervisor"), "path");
  const kernel = member(member(vm, "kernel"), "path");
  const refuse = (pointer: string, what: string): never => {
    throw new RuntError("not-supported", `${what}: the operator's configuration has not allowed it`, { pointer });
  };
  for (const [part, name] of [
    ["hypervisor", "parameters"],
    ["kernel", "parameters"],
    ["kernel", "initrd"],
  ] as const) {
    if (member(member(vm, part), name) !== undefined) refuse(`/vm/${part}/${name}`, `${name} of the ${part}`);
  }
  for (const part of ["image", "hwConfig"]) if (member(vm, part) !== undefined) refuse(`/vm/${part}`, `a machine's ${part}`);
  const image = typeof kernel === "string" ? kernel.replace(/\/boot\/vmlinux$/, "") : undefined;
  if (kernel !== undefined && (image === undefined || (image !== settings.image && !settings.allow.images.includes(image)))) {
    refuse("/vm/kernel/path", `the kernel ${String(kernel)}`);
  }
  if (hypervisor !== undefined && hypervisor !== settings.hypervisor && !settings.allow.hypervisors.includes(String(hypervisor))) {
    refuse("/vm/hypervisor/path", `the hypervisor ${String(hypervisor)}`);
  }
  return { ...settings, ...(image !== undefined && { image }), ...(hypervisor !== undefined && { hypervisor: String(hypervisor) }) };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
