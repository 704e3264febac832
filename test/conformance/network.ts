/** Network namespaces of a test: one that stands for the host's, with devices, and others to join. */
import { spawn } from "node:child_process";
import { existsSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, type Result } from "../support/call.ts";
import type { Config } from "../support/config.ts";
import { waitFor } from "./container.ts";
import type { Context } from "./context.ts";

const IP = "/usr/sbin/ip";

/** Of `ip -j addr`. */
export interface Device {
  readonly ifname: string;
  readonly flags: readonly string[];
  readonly mtu: number;
  readonly addr_info: readonly { readonly local: string; readonly prefixlen: number; readonly scope: string; readonly label?: string }[];
}

/** Lives as long as the test. */
export class Network {
  readonly #c: Context;

  private constructor(
    c: Context,
    readonly file: string,
  ) {
    this.#c = c;
  }

  /** A new one, in which `ip` has executed these lines. */
  static async make(c: Context, ...lines: readonly string[]): Promise<Network> {
    if (!existsSync(IP)) c.skip(`needs ${IP} (iproute2)`);
    const own = readlinkSync("/proc/self/ns/net");
    const keeper = spawn("unshare", ["--net", "sleep", "100"], { stdio: "ignore" });
    c.cleanup(() => void keeper.kill("SIGKILL"));
    const file = `/proc/${keeper.pid}/ns/net`;
    await waitFor(() => existsSync(file) && readlinkSync(file) !== own, "a network namespace");
    const network = new Network(c, file);
    await network.ip(...lines);
    return network;
  }

  /** That of a process. */
  static of(c: Context, pid: number): Network {
    return new Network(c, `/proc/${pid}/ns/net`);
  }

  async ip(...lines: readonly string[]): Promise<void> {
    const batch = join(this.#c.scratch("ip"), "batch");
    writeFileSync(batch, lines.map((line) => `${line}\n`).join(""));
    const { status, stderr } = await this.#tool(IP, "-batch", batch);
    if (status !== 0) throw new Error(`ip: ${stderr}`);
  }

  /** By name. */
  async devices(): Promise<ReadonlyMap<string, Device>> {
    const { stdout } = await this.#tool(IP, "-j", "addr");
    return new Map((JSON.parse(stdout) as Device[]).map((device) => [device.ifname, device]));
  }

  async names(): Promise<string[]> {
    return [...(await this.devices()).keys()].sort();
  }

  async device(name: string): Promise<Device> {
    const device = (await this.devices()).get(name);
    if (device === undefined) throw new Error(`no device ${name}`);
    return device;
  }

  /** The runtime, started in it. */
  call(args: readonly string[]): Promise<Result> {
    return this.#c.shell(`exec nsenter --net=${this.file} "$@"`, args);
  }

  /** For a configuration that joins it. */
  readonly joined = (config: Config): void => {
    for (const namespace of config.linux.namespaces) if (namespace.type === "network") namespace.path = this.file;
  };

  #tool(...command: readonly string[]): Promise<Result> {
    return call(this.#c.directory, ["nsenter", `--net=${this.file}`, ...command]);
  }
}

/** "10.1.2.1/24 label": what a device keeps. */
export function addressesOf({ addr_info }: Device): string[] {
  return addr_info
    .filter(({ scope }) => scope === "global")
    .map(({ local, prefixlen, label }) => `${local}/${prefixlen}${label ? ` ${label}` : ""}`);
}

export const isUp = ({ flags }: Device): boolean => flags.includes("UP");
