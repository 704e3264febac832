/**
 * What `state` and `list` need of a record, in the order in which it is written: a name is found at once behind the one before. Of what is not needed
 * the name alone keeps the place. Members of a member stand in its array.
 */
export const STATE_SUMMARY = {
  schema: [],
  minor: [],
  id: [],
  phase: [],
  ociVersion: [],
  bundle: [],
  rootfs: [],
  created: [],
  owner: [],
  pid: [],
  startTime: [],
  annotations: [],
  cgroup: ["version", "paths"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The argument of `host.readMembers`: "id cgroup(version paths)". */
export const SUMMARY_MEMBERS = Object.entries(STATE_SUMMARY)
  .map(([name, inner]) => (inner.length === 0 ? name : `${name}(${inner.join(" ")})`))
  .join(" ");
