/** Calls one CNI plugin as the specification says: parameters in the environment, the configuration on stdin, the result on stdout. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../../node/index.ts";
import type { CniPlugin, NetworkStep } from "../plan/index.ts";
import { type CniResult, readError, readResult, readVersions } from "./answer.ts";
import { lastLines, searchPath } from "./command.ts";
import { merged, NetworkError } from "./errors.ts";

export type CniVerb = "ADD" | "DEL" | "CHECK" | "VERSION";

export interface PluginCall {
  readonly verb: CniVerb;
  readonly plugin: CniPlugin;
  readonly containerId: string;
  /** Path of the network namespace; "" if it is gone. */
  readonly namespace: string;
  readonly interface: string;
}

/** Newest first. */
const VERSIONS = ["1.0.0", "0.4.0"];

const PACKAGE = "containernetworking-plugins";
/** Directories that distributions use. */
export const CNI_PATH = ["/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"];

export class Plugins {
  readonly #path: readonly string[];
  readonly #timeoutMs: number;
  readonly #versions = new Map<string, Promise<readonly string[]>>();

  /** @param path directories in which plugins are searched @param timeoutMs for one call, in milliseconds */
  constructor(path: readonly string[], timeoutMs: number) {
    this.#path = path;
    this.#timeoutMs = timeoutMs;
  }

  /** Returns the plugin's standard output. @throws NetworkError plugin-missing, plugin-failed, plugin-timeout */
  async call(call: PluginCall): Promise<string> {
    const { verb, plugin, containerId, namespace } = call;
    const end = await runProgram(this.locate(plugin.type), [], {
      env: {
        PATH: searchPath(),
        CNI_COMMAND: verb,
        CNI_CONTAINERID: containerId,
        CNI_NETNS: namespace,
        CNI_IFNAME: call.interface,
        CNI_PATH: this.#path.join(":"),
      },
      input: JSON.stringify(plugin),
      timeoutMs: this.#timeoutMs,
    });
    if (end.error !== undefined) throw end.error;
    const stdout = end.stdout.toString();
    const said = lastLines(end.stderr);
    const because = (text: string) => `the network plugin ${plugin.type} ${text}${said === "" ? "" : `; it has printed: ${said}`}`;
    if (end.isTimedOut) throw new NetworkError("plugin-timeout", because(`has not ended its ${verb} within ${this.#timeoutMs} ms`));
    if (end.failure === undefined) return stdout;
    const how = readError(stdout) ?? (lastLines(stdout) || `it ${end.failure}`);
    throw new NetworkError("plugin-failed", because(`has failed its ${verb}: ${how}`));
  }

  /** The newest version that all the plugins support. Each plugin is asked once. @throws NetworkError */
  async version(plugins: readonly CniPlugin[]): Promise<string> {
    const known = await Promise.all(plugins.map(({ type }) => this.#versionsOf(type)));
    const found = VERSIONS.find((version) => known.every((versions) => versions.includes(version)));
    if (found !== undefined) return found;
    const at = plugins.findIndex((_, index) => !VERSIONS.some((version) => known[index]!.includes(version)));
    throw new NetworkError(
      "plugin-answer",
      `the network plugin ${plugins[Math.max(0, at)]!.type} knows none of the versions ${VERSIONS.join(", ")}`,
    );
  }

  #versionsOf(type: string): Promise<readonly string[]> {
    const key = this.locate(type);
    let versions = this.#versions.get(key);
    if (versions === undefined) {
      versions = this.#askVersions(type);
      this.#versions.set(key, versions);
      versions.catch(() => this.#versions.delete(key));
    }
    return versions;
  }

  async #askVersions(type: string): Promise<readonly string[]> {
    const plugin = { type, cniVersion: VERSIONS[0]! };
    const text = await this.call({ verb: "VERSION", plugin, containerId: "", namespace: "", interface: "" });
    const versions = readVersions(text);
    if (versions === undefined) throw new NetworkError("plugin-answer", `the network plugin ${type} does not say which versions it knows`);
    return versions;
  }

  /** @throws NetworkError plugin-missing */
  locate(type: string): string {
    const tried = this.#path.map((directory) => join(directory, type));
    const found = type.includes("/") ? undefined : tried.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
    if (found !== undefined) return found;
    throw new NetworkError(
      "plugin-missing",
      `the network plugin ${type} is not installed (tried ${tried.join(", ")}): the package ${PACKAGE} has it`,
    );
  }
}

/** Whether what it makes has rules of the host. */
export function leavesRules({ type, ipMasq }: CniPlugin): boolean {
  return type === "portmap" || ipMasq === true;
}

/** Interfaces of the host that plugins need. */
export function parentsOf(steps: readonly NetworkStep[]): string[] {
  return steps.flatMap(({ plugins }) =>
    plugins.flatMap(({ master, device }) => [master, device].filter((name) => typeof name === "string")),
  );
}

// Calls all plugins of one interface: ADD in order, DEL in reverse order, CHECK in order.

/** The container to which the interface belongs. */
interface Attached {
  readonly containerId: string;
  /** Path of the network namespace; "" if it is gone. */
  readonly namespace: string;
}

/** Passes the result of each plugin to the next one. Does not undo anything after an error. @throws NetworkError */
export async function add(plugins: Plugins, step: NetworkStep, to: Attached): Promise<CniResult> {
  const version = await plugins.version(step.plugins);
  let result: CniResult | undefined;
  for (const plugin of step.plugins) {
    const text = await call(plugins, "ADD", { step, plugin, version, result }, to);
    const found = readResult(text, { version, interface: step.interface, namespace: to.namespace });
    if (typeof found === "string")
      throw new NetworkError("plugin-answer", `the network plugin ${plugin.type} has returned an invalid result: ${found}`);
    result = found;
  }
  if (step.needsAddress && (result?.ips ?? []).length === 0)
    throw new NetworkError("plugin-answer", `the network plugin ${step.plugins[0]!.type} has given no address to ${step.interface}`);
  return result!;
}

/** Continues after errors, and succeeds if the interface is gone. `result` undefined: ADD was not completed. @throws NetworkError with the messages of all errors */
export async function remove(plugins: Plugins, step: NetworkStep, result: CniResult | undefined, from: Attached): Promise<void> {
  const errors: unknown[] = [];
  for (const plugin of [...step.plugins].reverse()) {
    try {
      await call(plugins, "DEL", { step, plugin, version: await plugins.version(step.plugins), result }, from);
    } catch (error) {
      if (!isWithoutParent(plugin, error)) errors.push(error);
    }
  }
  if (errors.length > 0) throw merged(`the interface ${step.interface} could not be removed`, errors);
}

/** @throws NetworkError: the interface is not as it was made */
export async function check(plugins: Plugins, step: NetworkStep, result: CniResult, of: Attached): Promise<void> {
  for (const plugin of step.plugins) {
    try {
      await call(plugins, "CHECK", { step, plugin, version: result.cniVersion, result }, of);
    } catch (error) {
      if (!isDefectOfPortmap(plugin, result, error)) throw error;
    }
  }
}

/** portmap 1.1.1 also looks for IPv6 rules if the task has no IPv6 address. It checks IPv4 first, so that this error means the IPv4 rules are there. */
function isDefectOfPortmap({ type }: CniPlugin, { ips = [] }: CniResult, error: unknown): boolean {
  const hasIpv6 = ips.some(({ address }) => address.includes(":"));
  return type === "portmap" && !hasIpv6 && /could not check ipv6/.test((error as Error).message);
}

/**
 * These plugins (1.1.1) look for the interface of the host also when they remove that of the task. If it is gone, the kernel has removed the task's interface with it,
 * or there was none; its addresses are not leased (static).
 */
const ON_INTERFACES: readonly string[] = ["macvlan", "vlan", "host-device"];

function isWithoutParent({ type }: CniPlugin, error: unknown): boolean {
  return ON_INTERFACES.includes(type) && /Link not found/.test((error as Error).message);
}

interface Turn {
  readonly step: NetworkStep;
  readonly plugin: CniPlugin;
  readonly version: string;
  readonly result: CniResult | undefined;
}

function call(
  plugins: Plugins,
  verb: CniVerb,
  { step, plugin, version, result }: Turn,
  { containerId, namespace }: Attached,
): Promise<string> {
  const configured = { ...plugin, cniVersion: version, name: step.name, ...(result === undefined ? {} : { prevResult: result }) };
  return plugins.call({ verb, plugin: configured, containerId, namespace, interface: step.interface });
}
