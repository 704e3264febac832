/** One thing that was asked for, beside what the kernel says of it. Pure. */
export interface Setting {
  readonly group: "cgroup" | "namespaces" | "process" | "mounts";
  readonly name: string;
  /** JSON pointer in config.json; "" = implied. */
  readonly from: string;
  readonly asked?: string;
  /** undefined: it does not say. */
  readonly kernel?: string;
  /** The kernel has something else. */
  readonly drift: boolean;
}

/** `same` decides when both are known; with one of them unknown nothing has drifted. */
export function setting(
  group: Setting["group"],
  name: string,
  from: string,
  asked: string | undefined,
  kernel: string | undefined,
  same: (asked: string, kernel: string) => boolean = (one, other) => one === other,
): Setting {
  const drift = asked !== undefined && kernel !== undefined && !same(asked, kernel);
  return { group, name, from, ...(asked !== undefined && { asked }), ...(kernel !== undefined && { kernel }), drift };
}
