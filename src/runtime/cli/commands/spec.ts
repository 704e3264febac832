import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { defaultSpec } from "../../spec/index.ts";
import { absolutePath, text, type Verb } from "../context.ts";

export const verb: Verb = ({ flags }) => {
  const bundle = absolutePath(text(flags["bundle"]) ?? ".");
  const file = text(flags["file"]) ?? "config.json";
  const path = file.startsWith("/") ? file : `${bundle}/${file}`;
  const spec = defaultSpec({
    rootless: flags["rootless"] === true,
    euid: host.geteuid(),
    egid: host.getegid(),
    cgroup2: host.statfsType("/sys/fs/cgroup") === CGROUP2_SUPER_MAGIC,
  });
  try {
    host.writeFile(path, `${JSON.stringify(spec, null, "\t")}\n`, host.O.WRONLY | host.O.CREAT | host.O.EXCL, 0o666);
  } catch (error) {
    if (host.isErrno(error, "EEXIST")) throw new RuntError("usage", `File ${file} exists. Remove it first`);
    throw new RuntError("config-read", `${path}: ${host.reason(error)}`, { cause: error });
  }
  return 0;
};

/** linux/magic.h */
const CGROUP2_SUPER_MAGIC = 0x6367_7270;
