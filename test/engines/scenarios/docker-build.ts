/** `docker build`: the legacy builder, which uses the default runtime, and BuildKit, which has a setting of its own. */
import { engine, host, type Scenario, type Step } from "../scenario.ts";

/** What both builders are given: RUN as root and as a user, a directory, an environment, files that last. */
const file = (extra = ""): Step =>
  host(`mkdir {dir}/context && echo text > {dir}/context/file && cat > {dir}/context/Dockerfile <<'END'
FROM {image}
COPY file /file
ENV A=b
RUN cat /file && mkdir /made && echo $A > /made/a
WORKDIR /work
RUN pwd > here
USER user
RUN id -u > /tmp/uid
${extra}
CMD ["sh", "-c", "cat /made/a /work/here /tmp/uid"]
END`);
const failing = host(`mkdir {dir}/failing && printf 'FROM {image}\\nRUN exit 9\\n' > {dir}/failing/Dockerfile
mkdir {dir}/unknown && printf 'FROM {image}\\nRUN ["no-such-program"]\\n' > {dir}/unknown/Dockerfile`);
const result = engine(["run", "--rm", "localhost/{id}"], { stdout: /^b\n\/work\n1000$/m });
const remove = engine(["rmi", "-f", "localhost/{id}"]);

const classic = (args: string, expect: Parameters<typeof host>[1]): Step => host(`DOCKER_BUILDKIT=0 {engine} build ${args}`, expect);
const buildkit = (args: string, expect: Parameters<typeof host>[1]): Step =>
  host(`DOCKER_BUILDKIT=1 {engine} build --progress plain ${args}`, expect);

export const build: readonly Scenario[] = [
  {
    name: "build: legacy",
    steps: [
      file(),
      classic("--rm=false -t localhost/{id} {dir}/context", { output: /Successfully tagged/ }),
      host("{engine} ps -aq | xargs {engine} inspect -f '{{.HostConfig.Runtime}}' | sort -u", { stdout: /^tested\n$/ }),
      result,
      failing,
      classic("{dir}/failing", { status: 9, output: /returned a non-zero code: 9/ }),
      classic("{dir}/unknown", { status: "not-zero", output: /executable file not found in \$PATH/ }),
      remove,
    ],
  },
  {
    name: "build: BuildKit",
    steps: [
      host(": > $BUILDKIT_CALLS"),
      file("RUN wget -qO- http://127.0.0.1:1 || echo the network is there; ip link"),
      buildkit("-t localhost/{id} {dir}/context", { output: [/the network is there/, /: lo: <LOOPBACK,UP/] }),
      host("cat $BUILDKIT_CALLS", { stdout: / run (--keep )?--bundle / }),
      result,
      failing,
      buildkit("{dir}/failing", { status: 1, output: /exit code: 9/ }),
      buildkit("{dir}/unknown", { status: 1, output: /executable file not found in \$PATH/ }),
      remove,
    ],
  },
];
