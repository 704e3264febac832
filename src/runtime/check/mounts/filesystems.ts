/** The options of filesystems that containers mount (tmpfs(5), proc(5), the kernel's documentation of the others), and the form of their values. */
import { splitData } from "../../config/index.ts";

/** The form of a value; "" when the option takes none. A size may be a share of the memory, an amount not. */
export type OptionForm = "" | "size" | "amount" | "octal" | "id" | "number" | "text" | readonly string[];

/** Security modules take these for every filesystem (mount(8)). */
const LABELS: Readonly<Record<string, OptionForm>> = { context: "text", fscontext: "text", defcontext: "text", rootcontext: "text" };

const TMPFS: Readonly<Record<string, OptionForm>> = {
  size: "size",
  nr_blocks: "amount",
  nr_inodes: "amount",
  mode: "octal",
  uid: "id",
  gid: "id",
  mpol: "text",
  huge: ["never", "always", "within_size", "advise", "deny", "force"],
  inode32: "",
  inode64: "",
  noswap: "",
  casefold: "text",
  strict_encoding: "",
  quota: "",
  usrquota: "",
  grpquota: "",
  usrquota_block_hardlimit: "amount",
  usrquota_inode_hardlimit: "amount",
  grpquota_block_hardlimit: "amount",
  grpquota_inode_hardlimit: "amount",
};

const TABLES: Readonly<Record<string, Readonly<Record<string, OptionForm>>>> = {
  tmpfs: TMPFS,
  devpts: { newinstance: "", ptmxmode: "octal", mode: "octal", uid: "id", gid: "id", max: "number" },
  proc: {
    hidepid: ["0", "1", "2", "4", "off", "noaccess", "invisible", "ptraceable"],
    gid: "id",
    subset: ["pid"],
    pidns: "text",
  },
  sysfs: {},
  mqueue: {},
  ramfs: { mode: "octal" },
  overlay: {
    lowerdir: "text",
    "lowerdir+": "text",
    "datadir+": "text",
    upperdir: "text",
    workdir: "text",
    default_permissions: "",
    redirect_dir: ["on", "off", "follow", "nofollow"],
    index: ["on", "off"],
    uuid: ["on", "off", "null", "auto"],
    nfs_export: ["on", "off"],
    xino: ["on", "off", "auto"],
    metacopy: ["on", "off"],
    verity: ["on", "off", "require"],
    fsync: ["auto", "strict", "volatile"],
    userxattr: "",
    volatile: "",
    override_creds: "",
    nooverride_creds: "",
  },
};

/** As kstrtouint() and memparse() of the kernel read a number: hexadecimal, octal or decimal. */
const NUMBER = "(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\\d*)";
const ID = new RegExp(`^\\+?${NUMBER}$`);
const AMOUNT = new RegExp(`^${NUMBER}[kKmMgGtTpPeE]?$`);
const SHARE = new RegExp(`^${NUMBER}[kKmMgGtTpPeE]?%$`);
const OCTAL = /^\+?[0-7]+$/;
const U32_MAX = 0xffff_ffff;

/** The value of uid, gid or a count; undefined: the kernel does not take the text for a number. */
export function kernelNumber(text: string): number | undefined {
  if (!ID.test(text)) return undefined;
  const digits = text.replace("+", "");
  return Number(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
}

/** Of an overlay a word is split only where another option begins, since the name of a directory may have a comma. */
const OVERLAY_OPTION = new RegExp(
  `(?<!\\\\),(?=(?:${Object.keys(TABLES["overlay"] ?? {})
    .join("|")
    .replaceAll("+", "\\+")})(?:[=,]|$))`,
);

/** The options of a word of the list, which may be several. */
export function optionsIn(type: string | null | undefined, word: string): readonly string[] {
  if (!word.includes(",")) return [word];
  return type === "overlay" ? word.split(OVERLAY_OPTION) : splitData(word);
}

/** Options of every filesystem that the kernel has words for (fs/fs_context.c). */
export const OF_SUPERBLOCK: readonly string[] = ["ro", "rw", "sync", "async", "dirsync", "lazytime", "nolazytime", "mand", "nomand"];

/** undefined: nothing is known of the options of this filesystem. */
export function optionsOf(type: string): Readonly<Record<string, OptionForm>> | undefined {
  const table = Object.hasOwn(TABLES, type) ? TABLES[type] : undefined;
  return table && { ...table, ...LABELS };
}

/** Filesystems that pass over what they do not know. */
export const TOLERANT: readonly string[] = ["ramfs"];

/** What is wrong with the value of an option, in words; undefined if nothing is. */
export function valueProblem(form: OptionForm, value: string | undefined): string | undefined {
  if (form === "") return value === undefined ? undefined : "takes no value";
  if (value === undefined || value === "") return "needs a value";
  if (typeof form !== "string") return form.includes(value) ? undefined : `is one of ${form.join(", ")}`;
  switch (form) {
    case "size":
    case "amount":
      if (form === "size" && SHARE.test(value)) return undefined;
      return AMOUNT.test(value) ? undefined : `is a number with k, m${form === "size" ? ", g or %" : " or g"} behind it`;
    case "octal":
      return OCTAL.test(value) && Number.parseInt(value, 8) <= U32_MAX ? undefined : "is an octal number, as 1777";
    case "id":
    case "number": {
      const number = kernelNumber(value);
      // The highest is no id (user_namespaces(7)).
      return number !== undefined && number <= (form === "id" ? U32_MAX - 1 : U32_MAX) ? undefined : "is a number";
    }
    default:
      return undefined;
  }
}
