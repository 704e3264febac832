/** Compose files. `compose/` has the project's own. */
import type { Case } from "./case.ts";
import { compose } from "./sources.ts";

const MIB = 2 ** 20;
/** Compose specification, "Interpolation". */
const DEFAULTED = `\${VARIABLE:-default} evaluates to default if VARIABLE is unset or empty in the environment.`;
const services = (text: string) => compose("05-services", text);

export const OWN_COMPOSE: readonly Case[] = [
  {
    file: "order.yaml",
    says: [
      services(
        "`service_completed_successfully`: Specifies that a dependency is expected to run to successful completion before starting a dependent service.",
      ),
      services("When set to `true` Compose restarts this service after it updates the dependency service."),
    ],
    tasks: [
      { name: "migrate", containers: [{ dependsOn: [] }] },
      { name: "db", containers: [{ healthCheck: { command: ["/bin/true"], interval: 1000, timeout: 1000, retries: 2 } }] },
      {
        name: "web",
        containers: [
          {
            dependsOn: [
              { container: "migrate/migrate", condition: "SUCCESS" },
              { container: "db/db", condition: "HEALTHY", restart: true },
            ],
          },
        ],
      },
    ],
  },
  {
    file: "words.yaml",
    says: [
      services("If `entrypoint` is non-null, Compose ignores any default command from the image"),
      compose("12-interpolation", DEFAULTED),
    ],
    environment: { EMPTY: "" },
    tasks: [
      { name: "shell", containers: [{ command: "/bin/sh", args: ["-c", "echo two words"] }] },
      { name: "variables", containers: [{ command: "/bin/echo", args: ["default", "", "$LITERAL"] }] },
    ],
  },
  {
    file: "environment.yaml",
    says: [
      services(
        "Environment variables can be declared by a single key (no value to equals sign). In this case Compose relies on you to resolve the value.",
      ),
      services("If the value is not resolved, the variable is unset and is removed from the service container environment."),
      services("When both `env_file` and `environment` are set for a service, values set by `environment` have precedence."),
      services("For the same variable specified in two env files, the value from the last file in the list stands."),
    ],
    environment: { OUTSIDE: "from outside" },
    tasks: [{ containers: [{ env: { ONE: "second file", TWO: "service", OUTSIDE: "from outside" } }] }],
  },
  {
    file: "networks.yaml",
    says: [
      services("Since `aliases` are network-scoped, the same service can have different aliases on different networks."),
      services(
        "Other containers on the same network can use either the service name or an alias to connect to one of the service's containers.",
      ),
    ],
    tasks: [
      { name: "frontend", network: { mode: "bridge", name: "front", further: [{ name: "back" }] } },
      { name: "backend", network: { name: "back", aliases: ["database"], further: [{ name: "admin", aliases: ["mysql"] }] } },
      { name: "monitoring", network: { name: "admin" } },
    ],
  },
  {
    file: "extends.yaml",
    says: [
      services("Sequences: Items are combined together into a new sequence."),
      services("`volumes` are also treated as mappings where key is the target path inside the container."),
      services("Any duplicates resulting from the merge are removed so that the sequence only contains unique elements."),
    ],
    tasks: [
      {
        name: "web",
        containers: [
          {
            env: { TZ: "utc", PORT: "8080" },
            capabilities: { add: ["CAP_NET_RAW", "CAP_SYS_TIME"] },
            args: ["-c", "echo web"],
            mounts: [{ target: "/data", readOnly: true }, { target: "/kept" }],
          },
        ],
      },
    ],
  },
  {
    file: "limits.yaml",
    says: [compose("deploy", "`limits`: The platform must prevent the container to allocate more.")],
    tasks: [{ containers: [{ cpus: 0.5, memory: 64 * MIB, memoryReservation: 32 * MIB, pids: 20 }] }],
  },
  {
    file: "files.yaml",
    says: [services("Services can only access configs when explicitly granted by the `configs` attribute.")],
    environment: { WORD: "open sesame" },
    tasks: [
      {
        volumes: [
          { name: "secrets", files: { "file-0": { mode: 0o444 } } },
          { name: "configs", files: { "file-0": { mode: 0o440 } } },
        ],
        containers: [{ mounts: [{ target: "/run/secrets/word" }, { target: "/etc/app.conf" }] }],
      },
    ],
  },
  {
    file: "rights.yaml",
    says: [services("`read_only` configures the service container to be created with a read-only filesystem.")],
    tasks: [
      {
        sysctls: { "net.core.somaxconn": "1024" },
        containers: [
          { user: "7:9", groups: [11], readonlyRootfs: true, capabilities: { drop: ["ALL"] }, stopSignal: "SIGINT", stopTimeout: 90_000 },
        ],
        volumes: [{ medium: "memory", size: MIB }],
      },
    ],
  },
  {
    file: "privileged.yaml",
    says: [services("`privileged` configures the service container to run with elevated privileges.")],
    environment: { TRUST: "true" },
    tasks: [{ containers: [{ privileged: true, noNewPrivileges: false }] }, { containers: [{ privileged: true }] }],
  },
  {
    file: "profiles.yaml",
    says: [services("If unassigned, the service is always started but if assigned, it is only started if the profile is activated.")],
    profiles: ["debug"],
    tasks: [{ name: "always" }, { name: "debugger" }],
  },
  {
    file: "restart.yaml",
    says: [
      services("`always`: The policy always restarts the container until its removal."),
      services("Optionally, limit the number of restart retries the container runtime attempts."),
    ],
    tasks: [
      { name: "always", start: "always", containers: [{ restart: { ignoredExitCodes: [] } }] },
      { name: "limited", start: "once", containers: [{ restart: { ignoredExitCodes: [0], maximumCount: 3 } }] },
      { name: "never", start: "once", containers: [{ name: "own-name" }] },
    ],
  },
];

const podman = (file: string) => ({ source: "podman", file: `test/compose/${file}/docker-compose.yml` }) as const;
const go = (file: string) => ({ source: "composeGo", file: `loader/testdata/${file}` }) as const;
const awesome = (file: string) => ({ source: "awesomeCompose", file: `${file}/compose.yaml` }) as const;

export const FETCHED_COMPOSE: readonly Case[] = [
  {
    ...podman("uptwice_idempotent"),
    says: [services("`command` overrides the default command declared by the container image")],
    tasks: [{ name: "app", containers: [{ args: ["top"] }] }],
  },
  {
    ...podman("disable_healthcheck"),
    says: [services("`container_name` is a string that specifies a custom container name, rather than a name generated by default.")],
    tasks: [{ name: "noHc", start: "always", network: { ports: [{ host: 4000, container: 80 }] }, containers: [{ name: "noHc" }] }],
  },
  {
    ...podman("two_networks"),
    says: [services("`networks` defines the networks that service containers are attached to")],
    tasks: [{ name: "con1", network: { name: "net1", further: [{ name: "net2" }] } }],
  },
  {
    ...podman("ipam_set_ip"),
    says: [services("`ipv4_address`, `ipv6_address`")],
    tasks: [{ network: { name: "net1", subnet: "10.123.0.0/24", address: "10.123.0.253", mac: "32:b5:b2:55:48:72" } }],
  },
  {
    ...podman("pasta_opts"),
    says: [services("`network_mode` sets a service container's network mode.")],
    refused: ["4:5 /services/alpine/network_mode"],
  },
  {
    ...go("compose-depends-on-cycle.yaml"),
    says: [services("Service dependencies cause the following behaviors")],
    refused: ["5:5 /services/service1/depends_on"],
  },
  {
    ...go("compose-depends-on-self.yaml"),
    says: [services("Service dependencies cause the following behaviors")],
    refused: ["5:5 /services/service1/depends_on"],
  },
  {
    ...go("compose-test-extends.yaml"),
    says: [services("`file`: The location of a Compose configuration file defining that service.")],
    tasks: [
      {
        name: "importer",
        containers: [
          { name: "imported", image: "oci:/srv/images/nginx:latest", mounts: [{ source: "/opt/data", target: "/var/lib/mysql" }] },
        ],
      },
    ],
  },
  {
    ...go("extends/withdir/compose.yaml"),
    says: [services("Keys that aren't overridden are included as is.")],
    tasks: [{ name: "test", containers: [{ image: "oci:/srv/images/hello-world:latest" }] }],
  },
  {
    ...go("extends/interpolated.yaml"),
    says: [compose("12-interpolation", DEFAULTED)],
    tasks: [{ name: "foo", containers: [{ mounts: [{ source: "/dev/null", target: "/tmp/foo", readOnly: true }] }] }],
  },
  {
    ...go("compose-include.yaml"),
    says: [compose("14-include", "A Compose application can declare dependency on another Compose application.")],
    refused: ["1:1 /include"],
  },
  {
    ...awesome("wordpress-mysql"),
    says: [services("`always`: The policy always restarts the container until its removal.")],
    tasks: [
      {
        name: "db",
        volumes: [{ name: "db_data", kept: "db_data" }],
        containers: [{ image: "oci:/srv/images/mariadb:10.6.4-focal", args: ["--default-authentication-plugin=mysql_native_password"] }],
      },
      { name: "wordpress", network: { ports: [{ host: 80, container: 80 }] }, containers: [{ pullPolicy: "always" }] },
    ],
  },
  {
    ...awesome("nextcloud-redis-mariadb"),
    says: [services("`networks` defines the networks that service containers are attached to")],
    tasks: [
      { name: "nc", network: { name: "redisnet", further: [{ name: "dbnet" }] } },
      { name: "redis", network: { name: "redisnet" } },
      { name: "db", network: { name: "dbnet" } },
    ],
  },
  {
    ...awesome("prometheus-grafana"),
    says: [services("`container_name` is a string that specifies a custom container name, rather than a name generated by default.")],
    tasks: [
      {
        name: "prometheus",
        containers: [{ mounts: [{ source: "/srv/app/prometheus", target: "/etc/prometheus" }, { volume: "prom_data" }] }],
      },
      { name: "grafana", network: { ports: [{ host: 3000, container: 3000 }] } },
    ],
  },
  {
    ...awesome("elasticsearch-logstash-kibana"),
    says: [services("`container_name` is a string that specifies a custom container name, rather than a name generated by default.")],
    tasks: [
      { name: "elasticsearch", network: { name: "elastic", aliases: ["es"] }, containers: [{ name: "es", healthCheck: { retries: 3 } }] },
      { name: "logstash", containers: [{ dependsOn: [{ container: "elasticsearch/es", condition: "START" }] }] },
      { name: "kibana", network: { aliases: ["kib"] } },
    ],
  },
  {
    ...awesome("wireguard"),
    says: [services("`sysctls` defines kernel parameters to set in the container.")],
    environment: { TIMEZONE: "Europe/Paris" },
    tasks: [
      {
        sysctls: { "net.ipv4.conf.all.src_valid_mark": "1" },
        network: { ports: [{ host: 51_820, protocol: "udp" }] },
        containers: [{ capabilities: { add: ["CAP_NET_ADMIN", "CAP_SYS_MODULE"] }, env: { TZ: "Europe/Paris", SERVERURL: "" } }],
      },
    ],
  },
  {
    ...awesome("flask-redis"),
    says: [compose("build", "Compose Build")],
    tasks: [
      { name: "redis", containers: [{ name: "redis" }] },
      { name: "web", containers: [{ image: "docker://docker.io/library/project-web:latest", pullPolicy: "never", stopSignal: "SIGINT" }] },
    ],
  },
];
