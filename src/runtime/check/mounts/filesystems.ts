/** The options of filesystems that containers mount (tmpfs(5), proc(5), the kernel's documentation of the others), and the form of their values. */

/** The form of a value; "" when the option takes none. */
export type OptionForm = "" | "size" | "octal" | "id" | "number" | "text" | readonly string[];

/** Security modules take these for every filesystem (mount(8)). */
const LABELS: Readonly<Record<string, OptionForm>> = { context: "text", fscontext: "text", defcontext: "text", rootcontext: "text" };

const TMPFS: Readonly<Record<string, OptionForm>> = {
  size: "size",
  nr_blocks: "size",
  nr_inodes: "size",
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
  usrquota_block_hardlimit: "size",
  usrquota_inode_hardlimit: "size",
  grpquota_block_hardlimit: "size",
  grpquota_inode_hardlimit: "size",
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
      return /^(?:0[xX][0-9a-fA-F]+|\d+)[kKmMgGtTpPeE%]?$/.test(value) ? undefined : "is a number with k, m, g or % behind it";
    case "octal":
      return /^[0-7]{1,5}$/.test(value) ? undefined : "is an octal number, as 1777";
    case "id":
    case "number":
      return /^\d{1,10}$/.test(value) ? undefined : "is a number";
    default:
      return undefined;
  }
}
