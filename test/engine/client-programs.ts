/** The two programs of the client. */
import { join } from "node:path";
import { REPOSITORY } from "../support/programs.ts";

export type Program = readonly [string, ...string[]];

export const CLIENTS = {
  /** The executable, as it is installed. */
  native: [join(REPOSITORY, "bin/runtctl")],
  /** The program of Node, as npm installs it. */
  node: [process.execPath, join(REPOSITORY, "dist/runtctl/main.js")],
} as const satisfies Readonly<Record<string, Program>>;

/** The one that tests use: RUNT_TEST_CLIENT=node is for the other. */
export const RUNTCTL: Program = CLIENTS[process.env["RUNT_TEST_CLIENT"] === "node" ? "node" : "native"];
