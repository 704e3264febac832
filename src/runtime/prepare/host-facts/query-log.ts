/** Which facts of the host a plan depends on: whatever was asked while it was compiled, and the answers. */
import type { HostProbe } from "../host-probe.ts";

export interface QueryLog {
  /** Answers the same, and remembers. */
  readonly probe: HostProbe;
  /** Question -> answer. */
  answers(): Readonly<Record<string, unknown>>;
}

export function recordQueries(source: HostProbe): QueryLog {
  const known: Record<string, unknown> = {};
  const keep = <T>(question: string, answer: T): T => {
    known[question] = answer;
    return answer;
  };
  return {
    answers: () => known,
    probe: {
      caller: () => keep("caller", source.caller()),
      idPrograms: () => keep("idPrograms", source.idPrograms()),
      cgroups: () => keep("cgroups", source.cgroups()),
      mayMakeCgroups: () => keep("mayMakeCgroups", source.mayMakeCgroups()),
      systemd(rootless) {
        const facts = source.systemd(rootless);
        keep("systemd", { ...facts, version: facts.version() });
        return facts;
      },
      apparmor: () => keep("apparmor", source.apparmor()),
      selinux: () => keep("selinux", source.selinux()),
      resctrl: (...group) => keep("resctrl", source.resctrl(...group)),
      refuse: (config) => source.refuse(config),
    },
  };
}
