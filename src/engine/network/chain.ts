/** Calls all plugins of one interface: ADD in order, DEL in reverse order, CHECK in order. */
import type { CniPlugin, NetworkStep } from "../plan/index.ts";
import { type CniResult, readResult } from "./answer.ts";
import { merged, NetworkError } from "./errors.ts";
import type { CniVerb, Plugins } from "./plugin.ts";

/** The container to which the interface belongs. */
export interface Attached {
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
