/** The clients' tests share: a client a test, and process documents. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach } from "vitest";
import type { Config } from "../support/config.ts";
import { call, type Harness, RUNTIME, useHarness } from "../support/harness.ts";
import { Client } from "./client.ts";

export interface ClientHarness extends Harness {
  /** A fresh client, which ends with the test, after its containers. */
  client(): Client;
  /** The same in a mount namespace of its own with an empty /run, where the default state root is. */
  isolatedClient(): Client;
}

/** To be called inside `describe`. After a test its containers are deleted by force, below whatever root they are. */
export function useClients(): ClientHarness {
  const harness = useHarness();
  let clients: Client[] = [];
  let isolated: Client[] = [];
  const add = (client: Client) => {
    clients.push(client);
    return client;
  };
  afterEach(async () => {
    for (const root of rootsBelow(harness.root)) await deleteAll((args) => call(harness.directory, [RUNTIME, "--root", root, ...args]));
    for (const client of isolated) {
      await deleteAll(async (args) => ({ stdout: (await client.run([RUNTIME, ...args], { env: PATH })).text }));
    }
    for (const client of clients) await client.end();
    [clients, isolated] = [[], []];
  });
  return {
    ...harness,
    client: () => add(new Client()),
    isolatedClient() {
      const command = 'mount -t tmpfs -o mode=755 client /run && exec "$0"';
      const client = add(new Client(["unshare", "--mount", "--propagation", "private", "sh", "-c", command]));
      isolated.push(client);
      return client;
    },
  };
}

export const PATH = { PATH: process.env["PATH"] ?? "" };

function rootsBelow(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  const below = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return below.map(({ name }) => join(directory, name));
}

async function deleteAll(runtime: (args: readonly string[]) => Promise<{ readonly stdout: string }>): Promise<void> {
  const { stdout } = await runtime(["list", "-q"]);
  for (const id of stdout.split("\n").filter(isTestId)) await runtime(["delete", "--force", id]);
}

/** As the harness makes them. */
function isTestId(id: string): boolean {
  return id.startsWith(`t${process.pid}-`);
}

/** The document that engines pass to exec --process. */
export function processDocument(args: readonly string[], more: object = {}): object {
  return { user: { uid: 0, gid: 0 }, args, env: ["PATH=/usr/bin:/bin"], cwd: "/", ...more };
}

/** The program lives until it is killed, at once. */
export function waits(config: Config): void {
  config.process.args = ["/bin/sleep", "1000"];
}
