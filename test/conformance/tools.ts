/** A program of test/probe in a container. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { program } from "../support/programs.ts";
import type { Change, Context } from "./context.ts";

/** It is there as /tmp/NAME; the rest of /tmp is empty and can be written to. */
export function withTool(c: Context, name: string): Change {
  const directory = c.scratch("tools");
  copyFileSync(program(name), join(directory, name));
  return (config) => void config.mounts.push({ destination: "/tmp", type: "bind", source: directory, options: ["rbind", "rw"] });
}
