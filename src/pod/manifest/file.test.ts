import { expect, test } from "vitest";
import { parseFile } from "../index.ts";

const HOST = { name: "node-1", cpus: 4, memoryBytes: 8 * 1024 ** 3, runtimes: ["vm"], machines: ["vm"] };

/** A pod with one additional field, in the pod's spec or in its container. */
const inPod = (field: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  annotations: { runt.dev/rootfs.a: /r }\nspec:\n  containers: [{ name: a, command: [x] }]\n  ${field}\n`;
const inContainer = (field: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  annotations: { runt.dev/rootfs.a: /r }\nspec:\n  containers:\n  - name: a\n    command: [x]\n    ${field}\n`;
const inVolume = (source: string) => inPod(`volumes: [{ name: v, ${source} }]`);

/** Unsupported and unknown fields, each reported by name with line and column. */
test.each([
  [inPod("activeDeadlineSeconds: 0"), "8:3", "/spec/activeDeadlineSeconds", "has to be at least 1"],
  [inPod("schedulingGates: [{ name: a }]"), "8:3", "/spec/schedulingGates", "is not supported: nothing here would remove them"],
  [inPod("hostnameOverride: a"), "8:3", "/spec/hostnameOverride", "write hostname"],
  [
    inPod("resources: { limits: { memory: 1Gi }, requests: { memory: 2Gi } }"),
    "8:53",
    "/spec/resources/requests/memory",
    "is more than the limit",
  ],
  [inPod("resources: { limits: { ephemeral-storage: 1Gi } }"), "8:26", "/spec/resources/limits/ephemeral-storage", "is of containers only"],
  [inPod("affinity: { podAffinities: {} }"), "8:15", "/spec/affinity/podAffinities", 'the field "podAffinities" is not supported'],
  [inPod("dnsPolicy: None"), "8:3", "/spec/dnsPolicy", "with dnsPolicy None there has to be a server"],
  [inPod("ephemeralContainers: [{}]"), "8:3", "/spec/ephemeralContainers", "is not supported: "],
  [inPod("nodeSelector: { a: b }"), "8:3", "/spec/nodeSelector", "is not supported: "],
  [inPod("priorityClassName: high"), "8:3", "/spec/priorityClassName", "is not supported: "],
  [inPod("runtimeClassName: kata"), "8:3", "/spec/runtimeClassName", "this host has no runtime kata: it has vm"],
  [inPod("runtimeClassName: _vm"), "8:3", "/spec/runtimeClassName", "is no name of a runtime class"],
  [inPod("runtimeClassName: vm\n  hostIPC: true"), "9:3", "/spec/hostIPC", "cannot have the ipc namespace of the host"],
  [inPod("runtimeClassName: vm\n  hostNetwork: true"), "9:3", "/spec/hostNetwork", "cannot have the network namespace of the host"],
  [
    inPod("runtimeClassName: vm\n  volumes: [{ name: v, hostPath: { path: /p, type: Socket } }]"),
    "9:46",
    "/spec/volumes/0/hostPath/type",
    "cannot have a Socket of the host",
  ],
  [
    inContainer("securityContext: { privileged: true }\n  runtimeClassName: vm"),
    "10:24",
    "/spec/containers/0/securityContext/privileged",
    "cannot have a privileged container",
  ],
  [
    inPod("runtimeClassName: vm\n  volumes: [{ name: v, emptyDir: { medium: Memory } }]"),
    "9:36",
    "/spec/volumes/0/emptyDir/medium",
    "cannot have volumes in memory",
  ],
  [inPod("serviceAccountName: robot"), "8:3", "/spec/serviceAccountName", "the file has no ServiceAccount robot in namespace default"],
  [inPod("subdomain: a.b"), "8:3", "/spec/subdomain", "use 1 to 63 of a-z 0-9 -"],
  [inPod("nodeSelector: { kubernetes.io/os: windows }"), "8:3", "/spec/nodeSelector", "is not supported: "],
  [inPod('serviceAccountName: "<NAME>"'), "8:3", "/spec/serviceAccountName", "is no name that Kubernetes takes"],
  [inPod("priority: 1"), "8:3", "/spec/priority", "is not supported: "],
  [inPod("topologySpreadConstraints: [{}]"), "8:31", "/spec/topologySpreadConstraints/0/maxSkew", "is missing"],
  [inPod("hostUsers: false\n  hostNetwork: true"), "9:3", "/spec/hostNetwork", "hostNetwork and hostUsers: false exclude each other"],
  [
    inPod("hostUsers: false"),
    "7:16",
    "/spec/containers/0/image",
    "it needs an image: the files of a directory belong to users of the host",
  ],
  [inPod("setHostnameAsFQDN: true"), "8:3", "/spec/setHostnameAsFQDN", "only false is supported: "],
  [inPod("securityContext: { supplementalGroups: [-1] }"), "8:43", "/spec/securityContext/supplementalGroups/0", "has to be at least 0"],
  [
    inPod("securityContext: { sysctls: [{ name: kernel.panic, value: '1' }] }"),
    "8:22",
    "/spec/securityContext/sysctls",
    "is no parameter of the ipc or network namespace",
  ],
  [inPod("nodeName: elsewhere"), "8:3", "/spec/nodeName", "this host is node-1, not elsewhere"],
  [inPod("restartpolicy: Never"), "8:3", "/spec/restartpolicy", 'the field "restartpolicy" is not supported: is restartPolicy meant?'],
  [inPod("hostNetwrok: true"), "8:3", "/spec/hostNetwrok", 'the field "hostNetwrok" is not supported: is hostNetwork meant?'],
  [inPod("initContainer: []"), "8:3", "/spec/initContainer", 'the field "initContainer" is not supported: is initContainers meant?'],
  [inVolume("persistentVolumeClaim: { claimName: A }"), "8:49", "/spec/volumes/0/persistentVolumeClaim/claimName", "use 1 to 253"],
  [inVolume("nfs: { server: s, path: /p }"), "8:24", "/spec/volumes/0/nfs", "is not supported: "],
  [inVolume("emptyDir: { medium: HugePages }"), "8:36", "/spec/volumes/0/emptyDir/medium", "only Memory is supported"],
  [inVolume("emptyDir: { sizeLimit: lots }"), "8:36", "/spec/volumes/0/emptyDir/sizeLimit", "write a quantity"],
  [inVolume("hostPath: { path: /p, type: DirectoryOrMake }"), "8:46", "/spec/volumes/0/hostPath/type", "DirectoryOrCreate"],
  [inVolume("emptydir: {}"), "8:24", "/spec/volumes/0/emptydir", 'the field "emptydir" is not supported'],
  [inContainer("startupProbe: {}"), "10:5", "/spec/containers/0/startupProbe", "needs one of exec, httpGet, tcpSocket and grpc"],
  [
    inContainer("readinessProbe: { httpGet: { port: 80, scheme: GOPHER } }"),
    "10:44",
    "/spec/containers/0/readinessProbe/httpGet/scheme",
    'expected "HTTP" or "HTTPS"',
  ],
  [
    inContainer("livenessProbe: { exec: { command: [x] }, successThreshold: 2 }"),
    "10:46",
    "/spec/containers/0/livenessProbe/successThreshold",
    "only 1 is supported: ",
  ],
  [
    inContainer("readinessProbe: { exec: { command: [x] }, terminationGracePeriodSeconds: 2 }"),
    "10:47",
    "/spec/containers/0/readinessProbe/terminationGracePeriodSeconds",
    "is not supported: ",
  ],
  [
    inContainer("livenessProbe: { tcpSocket: { port: web } }"),
    "10:35",
    "/spec/containers/0/livenessProbe/tcpSocket/port",
    "the container has no port web",
  ],
  [
    inContainer("lifecycle: { postStart: { tcpSocket: { port: 1 } } }"),
    "10:31",
    "/spec/containers/0/lifecycle/postStart/tcpSocket",
    "is not supported: ",
  ],
  [
    inContainer("securityContext: { privileged: true, allowPrivilegeEscalation: false }"),
    "10:42",
    "/spec/containers/0/securityContext/allowPrivilegeEscalation",
    "false and privileged exclude each other",
  ],
  [
    inContainer("securityContext: { allowPrivilegeEscalation: false, capabilities: { add: [CAP_SYS_ADMIN] } }"),
    "10:24",
    "/spec/containers/0/securityContext/allowPrivilegeEscalation",
    "false and the capability CAP_SYS_ADMIN exclude each other",
  ],
  [
    inContainer("securityContext: { privileged: true, seccompProfile: { type: RuntimeDefault } }"),
    "10:42",
    "/spec/containers/0/securityContext/seccompProfile",
    "a privileged container has no filter of system calls",
  ],
  [
    inContainer("securityContext: { privileged: true, capabilities: { drop: [ALL] } }"),
    "10:58",
    "/spec/containers/0/securityContext/capabilities/drop",
    "a privileged container has all capabilities",
  ],
  [
    inContainer('securityContext: { privileged: "true" }'),
    "10:24",
    "/spec/containers/0/securityContext/privileged",
    "expected true or false",
  ],
  [
    inContainer("securityContext: { procMount: Unmasked }"),
    "10:24",
    "/spec/containers/0/securityContext/procMount",
    "Unmasked needs hostUsers: false",
  ],
  [
    inContainer("securityContext: { seLinuxOptions: { level: s0 } }"),
    "10:24",
    "/spec/containers/0/securityContext/seLinuxOptions",
    "is not supported: ",
  ],
  [inContainer("terminationMessagePath: /a/../m"), "10:5", "/spec/containers/0/terminationMessagePath", 'has ".." in it'],
  [
    inContainer("terminationMessagePolicy: Logs"),
    "10:5",
    "/spec/containers/0/terminationMessagePolicy",
    "write File or FallbackToLogsOnError",
  ],
  [inContainer("volumeDevices: [{}]"), "10:5", "/spec/containers/0/volumeDevices", "is not supported: "],
  [
    inContainer("restartPolicyRules: [{ action: Restart, exitCodes: { operator: In, values: [4] } }]"),
    "10:5",
    "/spec/containers/0/restartPolicyRules",
    "rules need a restartPolicy of the container",
  ],
  [
    inContainer(
      "restartPolicy: Never\n    restartPolicyRules: [{ action: RestartAllContainers, exitCodes: { operator: In, values: [4] } }]",
    ),
    "11:28",
    "/spec/containers/0/restartPolicyRules/0/action",
    "only Restart is supported",
  ],
  [inContainer("lifecycle: { stopSignal: SIGUSR1 }"), "10:18", "/spec/containers/0/lifecycle/stopSignal", "needs spec.os.name"],
  [inContainer("lifecycle: { stopSignal: USR1 }"), "10:18", "/spec/containers/0/lifecycle/stopSignal", "is no name of a signal"],
  [
    inContainer("securityContext: { appArmorProfile: { type: RuntimeDefault } }"),
    "10:43",
    "/spec/containers/0/securityContext/appArmorProfile/type",
    "containers get no profile of AppArmor",
  ],
  [
    inContainer("securityContext: { seccompProfile: { type: Localhost, localhostProfile: ../p } }"),
    "10:59",
    "/spec/containers/0/securityContext/seccompProfile/localhostProfile",
    "has to be a relative path without ..",
  ],
  [
    inContainer("securityContext: { seccompProfile: { type: Localhost } }"),
    "10:24",
    "/spec/containers/0/securityContext/seccompProfile/localhostProfile",
    "is given with the type Localhost, and only then",
  ],
  [
    inContainer("ports: [{ containerPort: 80, hostPort: 80, protocol: SCTP }]"),
    "10:48",
    "/spec/containers/0/ports/0/protocol",
    "SCTP is not supported on ports of the host",
  ],
  [
    inContainer("resources: { limits: { ephemeral-storage: 1Gi } }"),
    "10:28",
    "/spec/containers/0/resources/limits/ephemeral-storage",
    "needs an image",
  ],
  [
    inContainer("resources: { limits: { hugepages-2Mi: 3Mi, memory: 4Mi } }"),
    "10:28",
    "/spec/containers/0/resources/limits/hugepages-2Mi",
    "is no whole number of pages",
  ],
  [
    inContainer("resources: { limits: { hugepages-2Mi: lots, memory: 4Mi } }"),
    "10:28",
    "/spec/containers/0/resources/limits/hugepages-2Mi",
    "write a quantity",
  ],
  [inContainer("resources: { limits: { hugepages-2Mi: 4Mi } }"), "10:5", "/spec/containers/0/resources", "cpu or memory, too"],
  [
    inContainer("resources: { requests: { hugepages-2Mi: 4Mi, memory: 4Mi } }"),
    "10:30",
    "/spec/containers/0/resources/requests/hugepages-2Mi",
    "needs a limit",
  ],
  [
    inContainer("resources: { limits: { hugepages-1Gi: 2Gi, cpu: 1 }, requests: { hugepages-1Gi: 1Gi } }"),
    "10:70",
    "/spec/containers/0/resources/requests/hugepages-1Gi",
    "is as much as the limit",
  ],
  [
    inContainer("resources: { limits: { hugepages-2: 4Mi } }"),
    "10:28",
    "/spec/containers/0/resources/limits/hugepages-2",
    'the field "hugepages-2" is not supported',
  ],
  [
    inContainer("resources: { limits: { memroy: 4Mi } }"),
    "10:28",
    "/spec/containers/0/resources/limits/memroy",
    'the field "memroy" is not supported: is memory meant?',
  ],
  [inVolume("image: {}"), "8:24", "/spec/volumes/0/image/reference", "is missing"],
  [inVolume("image: { reference: a, pullPolicy: Sometimes }"), "8:47", "/spec/volumes/0/image/pullPolicy", "Always"],
  [
    inContainer("resources: { limits: { nvidia.com/gpu: 500m } }"),
    "10:28",
    "/spec/containers/0/resources/limits/nvidia.com~1gpu",
    "is a number of devices from 0 to 256",
  ],
  [
    inContainer("resources: { requests: { nvidia.com/gpu: 1 } }"),
    "10:30",
    "/spec/containers/0/resources/requests/nvidia.com~1gpu",
    "needs a limit: devices are never shared",
  ],
  [
    inContainer("resources: { limits: { kubernetes.io/gpu: 1 } }"),
    "10:28",
    "/spec/containers/0/resources/limits/kubernetes.io~1gpu",
    'the field "kubernetes.io/gpu" is not supported',
  ],
  [
    inPod("volumes: [{ name: v, hostPath: { path: /v } }]").replace(
      "name: a",
      "name: a, volumeMounts: [{ name: v, mountPath: /v, mountPropagation: Bidirectional }]",
    ),
    "7:68",
    "/spec/containers/0/volumeMounts/0/mountPropagation",
    "Bidirectional is for privileged containers only",
  ],
  [inContainer("workingdir: /x"), "10:5", "/spec/containers/0/workingdir", 'the field "workingdir" is not supported'],
  [inContainer("ports: [{ port: 80 }]"), "10:15", "/spec/containers/0/ports/0/port", 'the field "port" is not supported'],
])("row %#: refused by name, at its place", (text, position, pointer, message) => {
  const { tasks, findings } = parseFile(text, HOST);
  expect(tasks).toEqual([]);
  const found = findings.find((one) => one.pointer === pointer);
  expect(found && { position: `${found.line}:${found.column}`, message: found.message }).toEqual({
    position,
    message: expect.stringContaining(message),
  });
});
