/** The project's own manifests of pods, in `pods/`. */
import type { Case } from "./case.ts";
import { jobs, pods } from "./sources.ts";

const MIB = 2 ** 20;

export const OWN_PODS: readonly Case[] = [
  {
    file: "command.yaml",
    says: [
      pods("Variable references $(VAR_NAME) are expanded using the container's environment."),
      pods("If a variable cannot be resolved, the reference in the input string will be unchanged."),
      pods('"$$(VAR_NAME)" will produce the string literal "$(VAR_NAME)".'),
    ],
    tasks: [{ containers: [{ command: "/bin/echo", args: ["hello", "$(WHO)", "$(NOBODY)"], env: { WHO: "hello" } }] }],
  },
  {
    file: "environment.yaml",
    says: [
      pods("When a key exists in multiple sources, the value associated with the last source will take precedence."),
      pods("Values defined by an Env with a duplicate key will take precedence."),
    ],
    tasks: [{ containers: [{ env: { BOTH: "second", OWN: "container", FIRST: "one" } }] }],
  },
  {
    file: "init-order.yaml",
    says: [pods("Init containers are executed in order prior to containers being started.")],
    tasks: [
      {
        containers: [
          { name: "first", dependsOn: [], essential: false },
          { name: "second", dependsOn: [{ container: "first", condition: "SUCCESS" }] },
          { name: "main", dependsOn: [{ container: "second", condition: "SUCCESS" }], essential: true },
        ],
      },
    ],
  },
  {
    file: "sidecar.yaml",
    says: [
      pods("this init container will be continually restarted on exit until all regular containers have terminated."),
      pods("it does not wait for the container to complete before proceeding to the next init container."),
    ],
    tasks: [
      {
        containers: [
          { name: "proxy", essential: false, restart: { enabled: true } },
          { name: "main", dependsOn: [{ container: "proxy", condition: "START" }] },
        ],
      },
    ],
  },
  {
    file: "failed.yaml",
    says: [
      pods(
        "PodFailed means that all containers in the pod have terminated, and at least one container has terminated in a failure (exited with a non-zero exit code or was stopped by the system).",
      ),
    ],
    tasks: [{ ends: "all", containers: [{ name: "good" }, { name: "bad" }] }],
  },
  {
    file: "memory.yaml",
    says: [
      pods("The size limit is also applicable for memory medium."),
      pods("If Requests is omitted for a container, it defaults to Limits if that is explicitly specified"),
    ],
    tasks: [
      {
        volumes: [{ name: "scratch", medium: "memory", size: 2 * MIB }],
        containers: [{ memory: 64 * MIB, memoryReservation: 64 * MIB, mounts: [{ volume: "scratch", target: "/scratch" }] }],
      },
    ],
  },
  {
    file: "config.yaml",
    says: [
      pods("If specified, the listed keys will be projected into the specified paths, and unlisted keys will not be present."),
      pods("Must be an octal value between 0000 and 0777 or a decimal value between 0 and 511."),
    ],
    tasks: [
      {
        volumes: [
          { name: "some", files: { "deep/one": { content: "1", mode: 0o400 } } },
          { name: "all", files: { one: { content: "1", mode: 0o644 }, two: { content: "2", mode: 0o644 } } },
        ],
      },
    ],
  },
  {
    file: "secret.yaml",
    says: [
      pods("optional field specify whether the Secret or its keys must be defined"),
      pods("All keys and values are merged into the data field on write, overwriting any existing values."),
    ],
    tasks: [
      {
        volumes: [
          { name: "there", files: { word: { content: "new", encoding: "utf8" } } },
          { name: "not-there", files: {} },
        ],
      },
    ],
  },
  {
    file: "itself.yaml",
    says: [
      pods("Selects a field of the pod: supports metadata.name, metadata.namespace,"),
      pods("Selects a resource of the container: only resources limits and requests"),
    ],
    tasks: [{ containers: [{ env: { NAME: "itself", SPACE: "team", LABEL: "red", MEMORY: "64" } }] }],
  },
  {
    file: "rights.yaml",
    says: [
      pods(
        "May also be set in PodSecurityContext. If set in both SecurityContext and PodSecurityContext, the value specified in SecurityContext takes precedence.",
      ),
      pods("Whether this container has a read-only root filesystem."),
    ],
    tasks: [
      {
        containers: [
          { user: "7:9", groups: [11], readonlyRootfs: true, noNewPrivileges: true, capabilities: { add: [], drop: ["ALL"] } },
          { user: "8:9", groups: [11] },
        ],
      },
    ],
  },
  {
    file: "privileged.yaml",
    says: [
      pods("Processes in privileged containers are essentially equivalent to root on the host."),
      pods("AllowPrivilegeEscalation is true always when the container is: 1) run as Privileged 2) has CAP_SYS_ADMIN"),
    ],
    tasks: [
      {
        containers: [
          { name: "all", privileged: true, noNewPrivileges: false },
          { name: "few", noNewPrivileges: false },
        ],
      },
    ],
  },
  {
    file: "probes.yaml",
    says: [
      pods("If specified, no other probes are executed until this completes successfully."),
      pods("Minimum consecutive failures for the probe to be considered failed after having succeeded. Defaults to 3."),
      pods("Number of seconds after which the probe times out. Defaults to 1 second."),
      pods("How often (in seconds) to perform the probe. Default to 10 seconds."),
    ],
    tasks: [
      {
        containers: [
          {
            startupCheck: { command: ["/bin/true"], interval: 1000, retries: 30, timeout: 1000 },
            healthCheck: { command: ["/bin/cat", "/tmp/ready"], interval: 10_000, retries: 3, timeout: 1000 },
          },
        ],
      },
    ],
  },
  {
    file: "dns.yaml",
    says: [
      pods("This will be appended to the base nameservers generated from DNSPolicy."),
      pods("This will be appended to the base search paths generated from DNSPolicy."),
      pods("Resolution options given in Options will override those that appear in the base DNSPolicy."),
      pods("DNSDefault indicates that the pod should use the default (as determined by kubelet) DNS settings."),
    ],
    tasks: [{ dns: { inherit: true, servers: ["192.0.2.53"], search: ["shop.example"], options: ["ndots:3", "edns0"] } }],
  },
  {
    file: "hooks.yaml",
    says: [
      pods("HTTPGet specifies an HTTP GET request to perform."),
      pods("Sleep represents a duration that the container should sleep."),
      pods("The Pod's termination grace period countdown begins before the PreStop hook is executed."),
      pods("Otherwise, this value overrides the value provided by the pod spec."),
    ],
    tasks: [
      {
        containers: [
          {
            postStart: { http: { port: 8080, path: "/begun" } },
            preStop: { sleep: 5000, withinStopTimeout: true },
            livenessCheck: { stopTimeout: 3000 },
            stopTimeout: 20_000,
          },
        ],
      },
    ],
  },
  {
    file: "never.yaml",
    says: [
      pods(
        "PullNever means that kubelet never pulls an image, but only uses a local image. Container will fail if the image isn't present",
      ),
    ],
    tasks: [{ containers: [{ pullPolicy: "never" }] }],
  },
  {
    file: "job.yaml",
    says: [
      jobs("Specifies the desired number of successfully finished pods the job should be run with."),
      jobs("Specifies the number of retries before marking this job failed."),
    ],
    tasks: [
      { name: "work-0", containers: [{ dependsOn: [], restart: { maximumCount: 2 } }] },
      { name: "work-1", containers: [{ dependsOn: [{ container: "work-0/main", condition: "SUCCESS" }] }] },
    ],
  },
  {
    file: "one-process-namespace.yaml",
    says: [pods("When this is set containers will be able to view and signal processes from other containers in the same pod")],
    tasks: [{ namespaces: { pid: "shared", ipc: "shared" }, containers: [{ name: "one" }, { name: "two" }] }],
  },
  {
    file: "tls.yaml",
    says: [pods("Scheme to use for connecting to the host. Defaults to HTTP.")],
    tasks: [{ containers: [{ healthCheck: { http: { port: 8443, path: "/up", tls: true } } }] }],
  },
  {
    file: "message.yaml",
    says: [
      pods(
        "Optional: Path at which the file to which the container's termination message will be written is mounted into the container's filesystem.",
      ),
      pods(
        "FallbackToLogsOnError will use the last chunk of container log output if the termination message file is empty and the container exited with an error.",
      ),
    ],
    tasks: [
      {
        containers: [
          { name: "written", endMessage: { path: "/tmp/end", orLog: false } },
          { name: "printed", endMessage: { path: "/dev/termination-log", orLog: true } },
        ],
      },
    ],
  },
];
