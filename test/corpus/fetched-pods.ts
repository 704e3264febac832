/** Manifests of pods that others have made, for their tests and examples. */
import type { Case } from "./case.ts";
import { deployments, pods } from "./sources.ts";

const MIB = 2 ** 20;

const IN_PODMAN = { source: "podman", file: "test/e2e/play_kube_test.go" } as const;
const example = (file: string) => ({ source: "kubernetesExamples", file }) as const;

export const FETCHED_PODS: readonly Case[] = [
  {
    ...IN_PODMAN,
    variables: ["secretYaml", "secretPodYaml"],
    says: [pods("Specify whether the Secret or its key must be defined")],
    tasks: [
      {
        name: "mypod",
        volumes: [{ name: "foo", files: { username: { content: "dXNlcg==", mode: 0o644 }, password: { content: "NTRmNDFkMTJlOGZh" } } }],
        containers: [{ mounts: [{ target: "/etc/foo", readOnly: true }] }],
      },
    ],
  },
  {
    ...IN_PODMAN,
    variables: ["optionalNonExistingSecretPodYaml"],
    says: [pods("optional field specify whether the Secret or its keys must be defined")],
    tasks: [{ name: "mypod", volumes: [{ name: "foo", files: {} }] }],
  },
  {
    ...IN_PODMAN,
    variables: ["noOptionalNonExistingSecretPodYaml"],
    says: [pods("the volume setup will error unless it is marked optional")],
    refused: ["19:9 /spec/volumes/0/secret/secretName"],
  },
  {
    ...IN_PODMAN,
    variables: ["sharedNamespacePodYaml"],
    says: [pods("Share a single process namespace between all of the containers in a pod.")],
    tasks: [{ name: "testpod1", namespaces: { pid: "shared" }, containers: [{ command: "top", args: ["-d", "1.5"], cwd: "/" }] }],
  },
  {
    ...IN_PODMAN,
    variables: ["livenessProbePodYaml"],
    says: [pods("Number of seconds after the container has started before liveness probes are initiated.")],
    tasks: [
      { name: "liveness-probe-0", containers: [{ livenessCheck: { command: ["echo", "hello"], initialDelay: 5000, interval: 5000 } }] },
    ],
  },
  {
    ...IN_PODMAN,
    variables: ["livenessProbeUnhealthyPodYaml"],
    says: [deployments('The only allowed template.spec.restartPolicy value is "Always".')],
    refused: ["18:7 /spec/template/spec/restartPolicy"],
  },
  {
    ...IN_PODMAN,
    variables: ["checkInfraImagePodYaml"],
    says: [pods("Container image name.")],
    tasks: [{ name: "check-infra-image", containers: [{ command: "sleep", args: ["24h"] }] }],
  },
  {
    ...IN_PODMAN,
    variables: ["podWithoutAName"],
    says: [pods("Name of the container specified as a DNS_LABEL.")],
    refused: ["2:1 /metadata", "6:5 /spec/containers/0/name"],
  },
  {
    ...IN_PODMAN,
    variables: ["publishPortsPodWithContainerHostPort"],
    says: [pods("One of Always, Never, IfNotPresent.")],
    refused: ["10:5 /spec/containers/0/imagePullPolicy"],
  },
  {
    ...IN_PODMAN,
    variables: ["podWithHostPIDDefined"],
    says: [pods("Use the host's pid namespace.")],
    tasks: [{ namespaces: { pid: "host" }, containers: [{ command: "sh", args: ["-c", "echo $"] }] }],
  },
  {
    ...IN_PODMAN,
    variables: ["podWithHostIPCDefined"],
    says: [pods("Use the host's ipc namespace.")],
    tasks: [{ namespaces: { ipc: "host" }, start: "once" }],
  },
  {
    ...IN_PODMAN,
    variables: ["podWithSysctlDefined"],
    says: [pods("Sysctls hold a list of namespaced sysctls used for the pod.")],
    tasks: [{ sysctls: { "kernel.msgmax": "65535", "net.core.somaxconn": "65535" } }],
  },
  {
    ...IN_PODMAN,
    variables: ["podWithSysctlHostNetDefined"],
    says: [pods("Sysctls hold a list of namespaced sysctls used for the pod.")],
    refused: ["8:5 /spec/securityContext/sysctls"],
  },
  {
    ...IN_PODMAN,
    variables: ["listPodAndConfigMap"],
    says: [pods("List holds a list of objects, which may not be known by the server.")],
    tasks: [{ name: "test-list-pod", containers: [{ env: { FOO: "bar" } }] }],
  },
  {
    ...IN_PODMAN,
    variables: ["volumesFromPodYaml"],
    says: [pods("persistentVolumeClaimVolumeSource represents a reference to a PersistentVolumeClaim in the same namespace.")],
    tasks: [
      {
        name: "volspod",
        volumes: [{ name: "testing", kept: "testvol" }],
        containers: [{ name: "srcctr" }, { name: "tgtctr", mounts: [] }],
      },
    ],
  },
  {
    ...example("_archived/explorer/pod.yaml"),
    says: [pods("The container image's CMD is used if this is not provided.")],
    tasks: [
      {
        name: "explorer",
        volumes: [{ name: "test-volume" }],
        containers: [{ args: ["-port=8080"], mounts: [{ target: "/mount/test-volume" }] }],
      },
    ],
  },
  {
    ...example("_archived/storage/redis/redis-master.yaml"),
    says: [pods("Limits describes the maximum amount of compute resources allowed.")],
    tasks: [
      {
        containers: [
          { name: "master", cpus: 0.1, env: { MASTER: "true" } },
          { name: "sentinel", env: { SENTINEL: "true" } },
        ],
      },
    ],
  },
  {
    ...example("_archived/javaweb-tomcat-sidecar/javaweb.yaml"),
    says: [pods("Number of port to expose on the host.")],
    tasks: [
      {
        network: { mode: "bridge", ports: [{ container: 8080, host: 8001, protocol: "tcp" }] },
        containers: [{ name: "war" }, { name: "tomcat", dependsOn: [{ container: "war", condition: "SUCCESS" }] }],
      },
    ],
  },
  {
    ...example("_archived/storage/rethinkdb/admin-pod.yaml"),
    says: [pods("Selects a field of the pod: supports metadata.name, metadata.namespace,")],
    tasks: [{ containers: [{ env: { POD_NAMESPACE: "default" } }] }],
  },
  {
    ...example("_archived/cpu-manager/exclusive-1.yaml"),
    says: [pods("Limits describes the maximum amount of compute resources allowed.")],
    tasks: [{ cpus: 1, memory: 256_000_000, containers: [{ cpus: 1, memory: 256_000_000 }] }],
  },
  {
    ...example("web/guestbook/frontend-deployment.yaml"),
    says: [deployments("Number of desired pods.")],
    tasks: [0, 1, 2].map((index) => ({ name: `frontend-${index}`, containers: [{ cpuShares: 102, memoryReservation: 100 * MIB }] })),
  },
  {
    ...example("_archived/cluster-dns/dns-frontend-pod.yaml"),
    says: [pods("PullAlways means that kubelet always attempts to pull the latest image.")],
    tasks: [{ start: "once", containers: [{ pullPolicy: "always", command: "python" }] }],
  },
  {
    ...example("_archived/storage/hazelcast/hazelcast-deployment.yaml"),
    says: [deployments("Number of desired pods. This is a pointer to distinguish between explicit zero and not specified. Defaults to 1.")],
    tasks: [{ name: "hazelcast-0", containers: [{ env: { DNS_DOMAIN: "cluster.local", POD_NAMESPACE: "default" } }] }],
  },
  {
    ...example("_archived/podsecuritypolicy/rbac/pod_priv.yaml"),
    says: [pods("Processes in privileged containers are essentially equivalent to root on the host.")],
    tasks: [{ containers: [{ privileged: true, noNewPrivileges: false }] }],
  },
  {
    ...example("_archived/https-nginx/nginx-app.yaml"),
    says: [pods("ReplicationController represents the configuration of a replication controller.")],
    refused: ["33:11 /spec/template/spec/volumes/0/secret/secretName", "36:11 /spec/template/spec/volumes/1/configMap/name"],
  },
];
