/** Things that exist for one case beside the container. */
import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { program } from "../support/programs.ts";
import { until } from "./wait.ts";
import * as world from "./world.ts";

export interface Companion {
  /** Between what the product does before and the verb. */
  enter?(): void;
  /** When the verb has ended; what is wrong. */
  struck?(answer: world.Answer): string[];
  /** Whether delete --force may say this of it. */
  explains?(stderr: string): boolean;
  /** After delete --force; what is wrong. */
  deleted?(): string[];
  /** Also when anything has failed. */
  end(): void;
}

export const NETNS = "/run/netns/there";

/** Takes one terminal. */
export function startConsole(): Companion {
  rmSync(world.SOCKET, { force: true });
  const child = spawn(program("receive-console"), [world.SOCKET], { stdio: "ignore" });
  if (!until(() => existsSync(world.SOCKET))) throw new Error("the receiver of the console does not listen");
  return { end: () => child.kill("SIGKILL") };
}

/** Two devices here and a namespace that they go to. */
export function makeDevices(): Companion {
  world.mustRun("ip", ["netns", "add", "there"]);
  for (const name of ["d0", "d1"]) world.mustRun("ip", ["link", "add", name, "type", "veth", "peer", "name", `peer-${name}`]);
  return {
    end() {
      world.mustRun("ip", ["netns", "del", "there"]);
      for (const name of ["peer-d0", "peer-d1"]) world.call("ip", ["link", "del", name]);
    },
  };
}
