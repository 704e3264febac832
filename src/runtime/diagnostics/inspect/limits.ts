/** Limits that were written to cgroup files, beside what is in the files now. Pure but for the reading it is given. */
import { type Setting, setting } from "./settings.ts";

export interface Write {
  readonly path: string;
  readonly value: string;
  readonly from: string;
}

/** Content of a cgroup file; undefined when it is not there or does not tell. */
export type ReadFile = (path: string) => string | undefined;

const PAGE = 4096n;
/** Written a line at a time, one a device or resource: the later line adds to the earlier. */
const LISTS = /\.(max|limit|weight)$|_device$|ifpriomap$|^rdma\./;
const LINES = /^(io\.max|rdma\.max|net_prio\.ifpriomap|blkio\..*_device|io\.(bfq\.)?weight)$/;

export function limitSettings(writes: readonly Write[], read: ReadFile): Setting[] {
  const settings: Setting[] = [];
  for (const write of lastOfEach(writes)) {
    const { path, value, from } = write;
    const file = baseName(path);
    if (file === "devices.allow" || file === "devices.deny") settings.push(deviceRule(write, read));
    else settings.push(setting("cgroup", file, from, value, read(path), (asked, kernel) => holds(file, asked, kernel)));
  }
  return settings;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** A file that holds one value has the last one; one of lines has the last of each line. */
function lastOfEach(writes: readonly Write[]): Write[] {
  const last = new Map<string, Write>();
  for (const write of writes) {
    const file = baseName(write.path);
    const isList = file.startsWith("devices.") || (LINES.test(file) && LISTS.test(file) && write.value.includes(" "));
    last.set(isList ? `${write.path} ${write.value}` : write.path, write);
  }
  return [...last.values()];
}

/** v1 shows the rules that allow in devices.list. */
function deviceRule({ path, value, from }: Write, read: ReadFile): Setting {
  const allows = path.endsWith("allow");
  const list = read(`${path.slice(0, path.lastIndexOf("/"))}/devices.list`);
  const wanted = value === "a" ? "a *:* rwm" : value;
  const kernel = list === undefined ? undefined : list.split("\n").includes(wanted) ? "allow" : "deny";
  return setting("cgroup", `devices ${wanted}`, from, allows ? "allow" : "deny", kernel);
}

/** Whether the file holds what was written, in whatever form the kernel shows it. */
export function holds(file: string, asked: string, kernel: string): boolean {
  if (asked === kernel) return true;
  if (LINES.test(file) && kernel.includes(" ")) return hasLine(asked, kernel);
  if (file === "memory.oom_control") return kernel.includes(`oom_kill_disable ${asked}`);
  if (file.startsWith("cpuset.")) return expand(asked) === expand(kernel);
  if (file === "cpu.max") return kernel.split(" ")[0] === asked.split(" ")[0] && (!asked.includes(" ") || kernel === asked);
  return sameNumber(file, asked, kernel);
}

function hasLine(asked: string, kernel: string): boolean {
  const [key = "", ...values] = asked.split(" ");
  const lines = kernel.split("\n").map((line) => line.trim().split(/\s+/));
  if (values.length === 0) return lines.some(([word, value]) => word === "default" && value === key);
  const line = lines.find(([word]) => word === key);
  return line !== undefined && values.every((value) => line.includes(value));
}

/** "0-2,4" and "0,1,2,4" are the same. */
function expand(list: string): string {
  const numbers = list.split(",").flatMap((part) => {
    const [first = 0, last = first] = part.split("-").map(Number);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  });
  return [...new Set(numbers)].sort((a, b) => a - b).join(",");
}

/** Sizes are rounded down to pages, and "unlimited" has three forms. */
function sameNumber(file: string, asked: string, kernel: string): boolean {
  const [wanted, found] = [amount(asked), amount(kernel)];
  if (wanted === undefined || found === undefined) return false;
  if (wanted === found) return true;
  const unit = file.startsWith("memory.") ? PAGE : pageOf(file);
  if (unit === undefined) return false;
  const rounded = wanted - (wanted % unit);
  return rounded === found || (isUnlimited(wanted, unit) && isUnlimited(found, unit));
}

const HIGHEST = (1n << 63n) - 1n;

function amount(text: string): bigint | undefined {
  const word = text.trim();
  if (word === "max" || word === "-1") return HIGHEST;
  return /^\d+$/.test(word) ? BigInt(word) : undefined;
}

function isUnlimited(value: bigint, unit: bigint): boolean {
  return value >= HIGHEST - (HIGHEST % unit) - unit;
}

/** Size of the huge pages of "hugetlb.2MB.max". */
function pageOf(file: string): bigint | undefined {
  const [, size, unit = ""] = /^hugetlb\.(\d+)([KMG])B\./.exec(file) ?? [];
  return size === undefined ? undefined : BigInt(size) << { K: 10n, M: 20n, G: 30n }[unit as "K" | "M" | "G"];
}
