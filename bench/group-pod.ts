/** The group that both sides of bench/engine-group.ts bring up: one pod, which waits for two containers that do something once, in order. */
export const INIT = 2;
export const MAIN = 8;

export interface PodPlace {
  /** As the side names it. */
  readonly image: string;
  /** Directory of the host, in which each container makes a file when it runs. */
  readonly shared: string;
}

const NAME = "group";

/** Both take JSON where they take YAML. */
export function groupPod({ image, shared }: PodPlace): string {
  const container = (name: string, script: string, more: object = {}) => ({
    name,
    image,
    imagePullPolicy: "Never",
    command: ["sh", "-c", `touch /shared/${name}; ${script}`],
    volumeMounts: [{ name: "shared", mountPath: "/shared" }],
    ...more,
  });
  const port = { ports: [{ containerPort: 80, hostPort: 18_080 }] };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: NAME },
    spec: {
      restartPolicy: "Never",
      initContainers: names("init", INIT).map((name) => container(name, "true")),
      containers: names("main", MAIN).map((name, at) =>
        container(name, "trap 'exit 0' TERM; sleep 100000 & wait $!", at === 0 ? port : {}),
      ),
      volumes: [{ name: "shared", hostPath: { path: shared } }],
    },
  });
}

/** Files that are there when all containers have begun. */
export const MARKS: readonly string[] = [...names("init", INIT), ...names("main", MAIN)];

function names(kind: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${kind}${at}`);
}
