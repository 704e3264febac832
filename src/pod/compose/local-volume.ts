/** What `driver_opts` say of a volume of the driver local. */
import { z } from "zod";
import { isOfMemory, memoryOptions } from "./memory.ts";

/** Options of mount(8) that hold in any case. */
const HOLDS = ["bind", "rbind", "rw", "defaults"];

/** Source: Docker, "docker volume create", options of the driver local. */
export const localOptions = z.record(z.string(), z.union([z.string(), z.int()])).transform((given, { addIssue }) => {
  const { type = "none", o = "", device, ...others } = Object.fromEntries(Object.entries(given).map(([name, one]) => [name, String(one)]));
  const words = o.split(",").filter(Boolean);
  const isBind = words.includes("bind") || words.includes("rbind");
  const open = isBind
    ? words.filter((one) => !HOLDS.includes(one) && one !== "ro")
    : words.filter((one) => one !== "rw" && !isOfMemory(one));
  const refuse = (message: string, path: string[] = []) => {
    addIssue({ code: "custom", message, path });
    return z.NEVER;
  };
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return refuse("only type, o and device are supported", [unknown]);
  if (Object.keys(given).length === 0) return undefined;
  if (!isBind && type === "none") return refuse("needs o: bind, or the type of a file system");
  if (!isBind && type !== "tmpfs") {
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(type)) return refuse("is no type of a file system", ["type"]);
    if (!device) return refuse(`needs the device, which ${type} is mounted from`);
    return { type, device, options: o };
  }
  if (isBind && device === undefined) return refuse("needs the device: a directory of the host");
  if (open.length > 0)
    return refuse(`${isBind ? "only bind and ro are" : "only size, mode, uid and gid are"} supported, not ${open.join(" and ")}`, ["o"]);
  if (isBind) return { device: device!, readOnly: words.includes("ro") };
  return { memory: memoryOptions(words) };
});
