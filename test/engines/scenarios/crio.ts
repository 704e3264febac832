/** What CRI-O is asked to do: what containerd is, but for what the two mean differently; and the life of a pod by `crictl`. */
import { IMAGE } from "../engine.ts";
import { engine, host, type Scenario } from "../scenario.ts";
import { podScenarios } from "./cri-pods.ts";
import { processScenarios } from "./cri-processes.ts";
import { resourceScenarios } from "./cri-resources.ts";
import { securityScenarios } from "./cri-security.ts";

/** Scenarios of containerd's CRI that say nothing about a runtime under CRI-O, and why. */
const DIFFERENT: Readonly<Record<string, string>> = {
  "pod: its first process dies": "a pod has no process of its own unless it shares its PID namespace",
  "two containers: pid namespace of the pod":
    "its process wants an oom_score_adj of -998, for which this host's root lacks CAP_SYS_RESOURCE",
  "network of the host": "a pod has a UTS namespace of its own then too",
  "20 pods at once": "asks the bridge plugin to check pods while others change the bridge's address",
  "pods of this runtime and of runc beside each other": "does not tell which handler a pod has been asked for",
  "exec sync: time limit": "tells of the time-out in the output",
  "exec streaming: unknown command": "tells of it on the stream",
  "statistics of container and pod": "sums up a pod's statistics at times of its own",
  "security: seccomp": "its default profile says ENOSYS",
};

const SECOND = 1000;

const crictl: Scenario = {
  name: "crictl: a pod's life",
  steps: [
    host(`cat > {dir}/pod.json <<'END'
{"metadata":{"name":"{id}","uid":"{id}","namespace":"default"},"log_directory":"{dir}","linux":{"cgroup_parent":"/{cgroup-parent}","security_context":{"namespace_options":{"pid":1}}}}
END
cat > {dir}/container.json <<'END'
{"metadata":{"name":"c"},"image":{"image":"${IMAGE}"},"command":["sh","-c","echo hello; exec sleep 1000"],"log_path":"log","linux":{"security_context":{"namespace_options":{"pid":1}}}}
END`),
    host("{engine} runp {dir}/pod.json > {dir}/pod"),
    host("{engine} create $(cat {dir}/pod) {dir}/container.json {dir}/pod.json > {dir}/container"),
    host("{engine} start $(cat {dir}/container)"),
    engine(["ps"], { stdout: /Running/ }),
    host("{engine} logs $(cat {dir}/container)", { stdout: /^hello$/m }, { within: 5 * SECOND }),
    host("{engine} exec $(cat {dir}/container) sh -c 'echo out; exit 5'", { status: "not-zero", output: [/^out$/m, /5/] }),
    host("{engine} exec -s $(cat {dir}/container) echo hello", { stdout: /^hello$/m }),
    host(`script -qec "{engine} exec -it $(cat {dir}/container) tty" /dev/null`, { stdout: /\/dev\/pts\/\d/ }),
    host("{engine} update --memory 67108864 $(cat {dir}/container)"),
    host("{engine} exec -s $(cat {dir}/container) cat /sys/fs/cgroup/memory/memory.limit_in_bytes", { stdout: /^67108864$/m }),
    host("{engine} stats $(cat {dir}/container)", { stdout: /[1-9][\d.]*[kM]B/ }, { within: 5 * SECOND }),
    host("{engine} stop -t 0 $(cat {dir}/container)"),
    engine(["ps", "-a"], { stdout: /Exited/ }),
    host("{engine} rm $(cat {dir}/container)"),
    host("{engine} stopp $(cat {dir}/pod) && {engine} rmp $(cat {dir}/pod)"),
    engine(["pods", "-q"], { stdout: /^$/ }),
  ],
};

const shared = [...podScenarios, ...processScenarios, ...resourceScenarios, ...securityScenarios];
export const scenarios: readonly Scenario[] = [...shared.filter(({ name }) => DIFFERENT[name] === undefined), crictl];
