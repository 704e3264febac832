/** The keys of unit files: what is used, what has no effect, and what is refused by name. docs/engine/quadlet.md has them as a table (tools/gen-quadlet.ts). */

/**
 * text: one value, of which the last counts. texts: a value each time. words: several words each time. pairs: NAME=VALUE words each time. flag: true or false. An empty value takes
 * back those before it.
 */
export type Form = "text" | "texts" | "words" | "pairs" | "flag";

export type Field =
  | { readonly kind: "used"; readonly form: Form; readonly says: string }
  /** It holds anyway, or is about something that does not exist here. `isTold`: it is told of, as its author may expect something else. */
  | { readonly kind: "idle"; readonly isTold: boolean; readonly says: string }
  | { readonly kind: "refused"; readonly says: string };

export type Fields = Readonly<Record<string, Field>>;

const used = (form: Form, says: string): Field => ({ kind: "used", form, says });
const holds = (says: string): Field => ({ kind: "idle", isTold: false, says });
const idle = (says: string): Field => ({ kind: "idle", isTold: true, says });
const no = (says: string): Field => ({ kind: "refused", says });

const PODMAN = "podman does not run here";
const IDS = "the ids of a user namespace are chosen by the engine: write UserNS=auto";
const LABELS = "there are no labels of SELinux here";
const DNS = {
  DNS: used("texts", "name servers"),
  DNSOption: used("texts", "options of resolv.conf"),
  DNSSearch: used("texts", "search domains"),
};
const ARGUMENTS = {
  ContainersConfModule: no(PODMAN),
  GlobalArgs: no(`${PODMAN}: write what the argument says as a key`),
  PodmanArgs: no(`${PODMAN}: write what the argument says as a key`),
};
const ID_MAPS = { GIDMap: no(IDS), SubGIDMap: no(IDS), SubUIDMap: no(IDS), UIDMap: no(IDS) };
const NETWORKS = {
  AddHost: used("texts", "lines of /etc/hosts"),
  ...DNS,
  IP: used("text", "address in its only network, which has a subnet"),
  IP6: no("networks have IPv4"),
  Network: used(
    "texts",
    "NAME.network, NAME.container, host, none, bridge, or the name of a network that others make; options ip, mac, alias and interface_name",
  ),
  NetworkAlias: used("texts", "further names in its networks"),
  PublishPort: used("texts", "ports of the host"),
};
const UNMASKED = "what of /proc and /sys is hidden is the same for all containers";
const RELOAD = "a task is not reloaded: use runtctl exec or runtctl restart";
const HEALTH_LOG = "has no effect: results of checks are in the events of the task";

const container: Fields = {
  AddCapability: used("words", "capabilities beside the usual ones"),
  AddDevice: used("texts", "devices of the host, or CDI names"),
  ...NETWORKS,
  Annotation: used("pairs", "annotations"),
  AppArmor: used("text", "profile of AppArmor"),
  AutoUpdate: used(
    "text",
    "registry, local: `runtctl autoupdate` rolls a newer image out, and returns to the one before if it does not work",
  ),
  CgroupsMode: holds("the engine makes a cgroup for each container"),
  ContainerName: used("text", "name of the container, which is also a name in its networks"),
  ...ARGUMENTS,
  DropCapability: used("words", "capabilities that it does not have; all: none of them stays"),
  Entrypoint: used("text", "program instead of the image's: one word, or a list in JSON"),
  Environment: used("pairs", "variables"),
  EnvironmentFile: used("texts", "files with lines NAME=VALUE, relative to the unit file"),
  EnvironmentHost: no("the variables of the host are not those of the container"),
  Exec: used("text", "arguments, or the program where the image has none"),
  ExposeHostPort: holds("containers of a network reach all ports of each other"),
  ...ID_MAPS,
  Group: used("text", "group of its processes, with User"),
  GroupAdd: used("texts", "further groups"),
  HealthCmd: used("text", "command of the health check for a shell, or a list in JSON; none: no check"),
  HealthInterval: used("text", "time between checks"),
  HealthLogDestination: idle(HEALTH_LOG),
  HealthMaxLogCount: idle(HEALTH_LOG),
  HealthMaxLogSize: idle(HEALTH_LOG),
  HealthOnFailure: used("text", "none, or kill: a container that is unhealthy is stopped, and Restart decides"),
  HealthRetries: used("text", "failures until it is unhealthy"),
  HealthStartPeriod: used("text", "time in which failures do not count"),
  HealthStartupCmd: used("text", "check that must succeed first; as HealthCmd"),
  HealthStartupInterval: used("text", "time between these checks"),
  HealthStartupRetries: used("text", "failures until the container is stopped"),
  HealthStartupSuccess: used("text", "successes in turn that end them"),
  HealthStartupTimeout: used("text", "time of one check"),
  HealthTimeout: used("text", "time of one check"),
  HostName: used("text", "name of the host in the container"),
  HttpProxy: holds("variables of a proxy are not passed on"),
  Image: used("text", "image, or NAME.image"),
  Label: used("pairs", "annotations, too"),
  LogDriver: used("text", "journald, json-file, k8s-file and none; fluentd, gelf and syslog as in Compose"),
  LogOpt: used("texts", "options of the driver, as in Compose"),
  Mask: no(UNMASKED),
  Memory: used("text", "limit of memory"),
  Mount: used("texts", "mounts of type bind, image, tmpfs and volume"),
  NoNewPrivileges: used("flag", "no program gains rights"),
  Notify: used("text", "healthy: what depends on it waits for its check. true is refused"),
  PidsLimit: used("text", "limit of processes"),
  Pod: used("text", "NAME.pod: it is a container of this task"),
  Pull: used("text", "always, missing, never, newer (as always)"),
  ReadOnly: used("flag", "the root file system is read-only"),
  ReadOnlyTmpfs: used("flag", "false: /run, /tmp and /var/tmp are read-only, too"),
  ReloadCmd: no(RELOAD),
  ReloadSignal: no(RELOAD),
  Retry: idle("has no effect: the engine decides how often a registry is asked"),
  RetryDelay: idle("has no effect: the engine decides how often a registry is asked"),
  Rootfs: used("text", "directory that is its root file system, instead of an image"),
  RunInit: used("flag", "process 1 is the engine's, which reaps processes"),
  SeccompProfile: used("text", "a file, or unconfined"),
  Secret: no("there is no store of secrets: mount a file"),
  SecurityLabelDisable: holds(LABELS),
  SecurityLabelFileType: idle(`has no effect: ${LABELS}`),
  SecurityLabelLevel: idle(`has no effect: ${LABELS}`),
  SecurityLabelNested: idle(`has no effect: ${LABELS}`),
  SecurityLabelType: idle(`has no effect: ${LABELS}`),
  ServiceName: used("text", "name by which [Unit] of other files calls it"),
  ShmSize: used("text", "size of /dev/shm"),
  StartWithPod: used("flag", "only true: the containers of a task start together"),
  StopSignal: used("text", "signal of a stop"),
  StopTimeout: used("text", "seconds until SIGKILL"),
  Sysctl: used("words", "parameters of the kernel for its namespaces"),
  Timezone: no("set the variable TZ, or mount /etc/localtime"),
  Tmpfs: used("texts", "directories in memory"),
  Ulimit: used("texts", "limits of processes, NAME=SOFT[:HARD]"),
  Unmask: no(UNMASKED),
  User: used("text", "user of its processes"),
  UserNS: used("text", "host, or auto: a range of ids that no other task has"),
  Volume: used("texts", "mounts: NAME.volume, the name of a volume, or a path, relative to the unit file with ./"),
  WorkingDir: used("text", "working directory"),
};

const pod: Fields = {
  ...NETWORKS,
  ...ARGUMENTS,
  ExitPolicy: used("text", "only stop: the task ends with its last container"),
  ...ID_MAPS,
  HostName: used("text", "name of the host in its containers"),
  Label: used("pairs", "annotations of its containers"),
  PodName: used("text", "name in its networks"),
  ServiceName: container["ServiceName"]!,
  ShmSize: used("text", "size of /dev/shm of its containers"),
  UserNS: container["UserNS"]!,
  Volume: used("texts", "mounts of all its containers, as of a container"),
};

const volume: Fields = {
  ...ARGUMENTS,
  Copy: used("flag", "false: a new volume does not get the files of the image"),
  Device: used("text", "directory of the host with Type=none, tmpfs, or what Type mounts"),
  Driver: used("text", "local, or image"),
  Group: no("a volume belongs to root until a container changes that"),
  Image: used("text", "image whose files are the volume, for reading only"),
  Label: idle("has no effect: volumes have no labels"),
  Options: used("text", "bind, ro, size, or those of Type"),
  ServiceName: container["ServiceName"]!,
  Type: used("text", "none, tmpfs, or the type of a file system, such as nfs"),
  User: no("a volume belongs to root until a container changes that"),
  VolumeName: used("text", "name of the volume in the group"),
};

const network: Fields = {
  ...ARGUMENTS,
  DisableDNS: used("flag", "only false: containers find each other by their names"),
  DNS: no("write it at the containers"),
  Driver: used("text", "only bridge"),
  Gateway: used("text", "address of the host in the network"),
  InterfaceName: no("the engine names its bridges itself"),
  Internal: used("flag", "no way out, and no ports of the host"),
  IPAMDriver: used("text", "only host-local"),
  IPRange: used("text", "part of the subnet that containers get addresses of, as a range with a prefix"),
  IPv6: used("flag", "only false: networks have IPv4"),
  Label: idle("has no effect: networks have no labels"),
  NetworkDeleteOnStop: holds("a network is removed with its last task"),
  NetworkName: used("text", "name of the network on the whole host"),
  Options: used("pairs", "mtu"),
  ServiceName: container["ServiceName"]!,
  Subnet: used("text", "addresses of the network"),
};

const ACCESS = "give the host the credentials and certificates of the registry (docs/engine/images.md)";
const image: Fields = {
  AllTags: no("one image is pulled"),
  Arch: no("images are of this machine"),
  AuthFile: no(ACCESS),
  CertDir: no(ACCESS),
  ...ARGUMENTS,
  Creds: no(ACCESS),
  DecryptionKey: no("encrypted images are not supported"),
  Image: used("text", "image of the containers and volumes that name this file"),
  ImageTag: no("the engine reads an archive by the name that Image has"),
  OS: no("images are of this machine"),
  Policy: used("text", "as Pull of a container"),
  Retry: container["Retry"]!,
  RetryDelay: container["RetryDelay"]!,
  ServiceName: container["ServiceName"]!,
  TLSVerify: no(ACCESS),
  Variant: no("images are of this machine"),
};

const KUBE = "write it in the file that Yaml names";
const kube: Fields = {
  AutoUpdate: idle("has no effect: write the annotation io.containers.autoupdate in the file that Yaml names"),
  ConfigMap: used("texts", "files with ConfigMaps, relative to the unit file"),
  ...ARGUMENTS,
  ExitCodePropagation: idle("has no effect: each task has the result of its containers"),
  KubeDownForce: idle("has no effect: `runtctl delete -f` has --volumes"),
  LogDriver: no(KUBE),
  Network: no(KUBE),
  PublishPort: no(`${KUBE}: hostPort`),
  ServiceName: container["ServiceName"]!,
  SetWorkingDirectory: idle("has no effect: paths of the file are absolute"),
  UserNS: no(KUBE),
  Yaml: used("texts", "files with Kubernetes objects, relative to the unit file"),
};

const ORDER = "files of the directory, or targets; the container starts after them";
const BOUND = "files of the directory; it starts after them, and is replaced and restarted with them";
const unit: Fields = {
  After: used("words", ORDER),
  Before: used("words", "files of the directory, which start after it"),
  BindsTo: used("words", BOUND),
  Conflicts: used("words", "no file of the directory"),
  DefaultDependencies: holds("the daemon has its own unit"),
  Description: holds("it is for people"),
  Documentation: holds("it is for people"),
  PartOf: used("words", BOUND),
  RequiredBy: no("it is of [Install]"),
  Requires: used("words", BOUND),
  RequiresMountsFor: holds("a mount that is missing fails the start of the container"),
  Requisite: used("words", BOUND),
  SourcePath: holds("it is for people"),
  StartLimitBurst: idle("has no effect: the delay of restarts grows instead"),
  StartLimitIntervalSec: idle("has no effect: the delay of restarts grows instead"),
  Upholds: used("words", "files of the directory"),
  Wants: used("words", "files of the directory, or units of systemd, which are not started"),
};

const SYSTEMD = "systemd does not start the container";
const service: Fields = {
  CPUQuota: used("text", "limit of CPU, such as 50%"),
  Delegate: holds("the engine makes a cgroup for each container"),
  Environment: no(`${SYSTEMD}: write Environment in [Container]`),
  EnvironmentFile: no(`${SYSTEMD}: write EnvironmentFile in [Container]`),
  ExecReload: no(RELOAD),
  ExecStart: no(SYSTEMD),
  ExecStartPost: no(`${SYSTEMD}: make it a container`),
  ExecStartPre: no(`${SYSTEMD}: make it a container that others depend on`),
  ExecStop: no(SYSTEMD),
  ExecStopPost: no(SYSTEMD),
  KillMode: holds("all processes of a container are ended"),
  MemoryMax: used("text", "limit of memory"),
  NotifyAccess: holds("there is no notification"),
  RemainAfterExit: holds("what a oneshot has done stays done"),
  Restart: used("text", "no, always, on-failure"),
  RestartSec: used("text", "delay of each restart. Without it the delay grows from 100 ms to a minute"),
  SyslogIdentifier: holds("the log is of the container"),
  TasksMax: used("text", "limit of processes"),
  TimeoutSec: idle("has no effect: StopTimeout is the time of a stop"),
  TimeoutStartSec: idle("has no effect: the pull of an image takes as long as it takes"),
  TimeoutStopSec: idle("has no effect: StopTimeout is the time of a stop"),
  Type: used("text", "oneshot: what depends on it waits for its success. notify, exec, simple and forking are the usual"),
};

const TARGET = "a target: the task is started again after a reboot";
const install: Fields = {
  Alias: no("a task has one name"),
  DefaultInstance: used("text", "instance of a template that is started"),
  RequiredBy: used("words", TARGET),
  UpheldBy: used("words", TARGET),
  WantedBy: used("words", TARGET),
};

/** By the names of sections. Others are those of systemd, which are refused. */
export const SECTIONS = {
  Container: container,
  Pod: pod,
  Volume: volume,
  Network: network,
  Image: image,
  Kube: kube,
  Unit: unit,
  Service: service,
  Install: install,
  Quadlet: { DefaultDependencies: holds("the daemon waits for the network") } as Fields,
} as const;

export type SectionName = keyof typeof SECTIONS;

/** The section that a file of each kind is for, by the suffix of its name. */
export const KINDS = { container: "Container", pod: "Pod", volume: "Volume", network: "Network", image: "Image", kube: "Kube" } as const;

export type Kind = keyof typeof KINDS;

/** Sections that files of all kinds may have. */
export const COMMON: readonly SectionName[] = ["Unit", "Service", "Install", "Quadlet"];
