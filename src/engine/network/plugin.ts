/** Calls one CNI plugin as the specification says: parameters in the environment, the configuration on stdin, the result on stdout. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../../node/index.ts";
import type { CniPlugin } from "../plan/index.ts";
import { readError, readVersions } from "./answer.ts";
import { lastLines, searchPath } from "./command.ts";
import { NetworkError } from "./errors.ts";

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
    const end = await runProgram(this.#locate(plugin.type), [], {
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
    const key = this.#locate(type);
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
  #locate(type: string): string {
    const tried = this.#path.map((directory) => join(directory, type));
    const found = type.includes("/") ? undefined : tried.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
    if (found !== undefined) return found;
    throw new NetworkError(
      "plugin-missing",
      `the network plugin ${type} is not installed (tried ${tried.join(", ")}): the package ${PACKAGE} has it`,
    );
  }
}
