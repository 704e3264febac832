/** The state document that a hook gets on stdin (runtime, state): what stands before and behind the pid, which each actor knows as it sees it. */
export interface HookSubject {
  readonly ociVersion: string;
  readonly id: string;
  readonly bundle: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface HookState {
  readonly statePrefix: string;
  readonly stateSuffix: string;
}

export function hookState(subject: HookSubject, status: "creating" | "created" | "running" | "stopped"): HookState {
  const { ociVersion, id, bundle, annotations } = subject;
  const before = JSON.stringify({ ociVersion, id, status });
  const after = JSON.stringify({ bundle, ...(Object.keys(annotations).length > 0 && { annotations }) });
  return { statePrefix: `${before.slice(0, -1)},"pid":`, stateSuffix: `,${after.slice(1)}` };
}
