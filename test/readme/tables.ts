/** What the test of the pages knows of their commands beyond their words. Keys are names of commands (nameOf). */
import { TREE } from "./session.ts";

/** Everything that these say can be typed is typed, also what stands in their running text. The second one goes on where the first one ends. */
export const FIRST_PAGES: readonly string[] = ["README.md", "docs/shell.md"];

/** Pages that begin with commands. Those below docs/engines configure engines: `make test-engines`. */
export const OTHER_PAGES: readonly string[] = ["docs/troubleshooting.md", "docs/switching.md", "docs/editor.md"];

/** What stands for the reader's own, in the order of replacement. */
export const PLACEHOLDERS: readonly (readonly [string, string])[] = [
  ["/path/to/runt", TREE],
  ["/bundles/web", "/tmp/bundles/web"],
  ["~/", "/tmp/home/"],
  ["BUNDLE", "/tmp/bundles/web"],
  ["ROOT", "/tmp/roots"],
  [" ID", " seen"],
  ["VERB", "run"],
  ["bash|zsh|fish", "zsh"],
];

/** Not typed, each with the reason. Those of make are at least known to make. */
export const LISTED: Readonly<Record<string, string>> = {
  "npm ci": "make types it",
  "apt-get install -y gcc make nodejs npm": "installs on the host: make test-hosts has them installed",
  "npm install -g node@20": "installs on the host: test/hosts types it",
  "npm pack": "test/library/package.test.ts types it",
  "npm install": "test/library/package.test.ts types it",
  "make test": "this test is part of it",
  "make deb && apt install ./build/runt_*.deb": "installs on the host",
  "systemctl edit containerd": "opens an editor",
  "runt gc": "acts on the whole host, where others may have containers; the dry run is typed",
};

export interface Expectation {
  /** Typed before, as root: what the text says is there, or what a reader waits for. */
  readonly before?: string;
  /** Typed afterwards, as root, with success: what the text says has come about. */
  readonly after?: string;
  /** It runs on a terminal, where this is typed. */
  readonly terminal?: string;
  /** What the reader sees, at the end of `after`. */
  readonly shows?: RegExp;
  /** Of `make` in a tree where nothing is built. */
  readonly seconds?: number;
}

const HALF_AN_HOUR = 1800;
const WEB = "/tmp/bundles/web";

export const EXPECTED: Readonly<Record<string, Expectation>> = {
  "make demo": { shows: /No process, mount, cgroup or state is left\.\n$/, seconds: HALF_AN_HOUR },
  "make demo-task": { shows: /No process, mount, cgroup or file of the task is left\.\n$/, seconds: HALF_AN_HOUR },
  "make demo-compose": { shows: /No process, mount, cgroup or file of the project is left\.\n$/, seconds: HALF_AN_HOUR },
  "make demo-pool": { shows: /No process, mount, cgroup or directory of the pool is left\.\n$/, seconds: HALF_AN_HOUR },
  "make demo-pod": { shows: /No process, mount, cgroup or file of the pods is left\.\n$/, seconds: HALF_AN_HOUR },
  make: {
    after: "bin/runt --version && ! ldd bin/runt 2>/dev/null && bin/runtd --help && bin/runtctl schema && test -x bin/runt-pause",
    shows: /runt version .*runtd \[.*"\$schema"/s,
  },
  "make bundles": { after: "test -f build/bundles/hello/config.json -a -x build/bundles/hello/rootfs/bin/sh" },
  "make install": { after: 'test "$(command -v runt)" = /usr/local/bin/runt' },
  "make deb": { after: "dpkg-deb --contents build/runt_*.deb", shows: /\.\/usr\/bin\/runt\n/ },
  "make library": { after: "test -s dist/executor/index.js -a -s dist/executor/index.d.ts" },
  "make sbom": { seconds: HALF_AN_HOUR },
  "runt run -b build/bundles/hello hello": { shows: /hello from hello, process 1\n/ },
  "runt create -b build/bundles/limited --pid-file /tmp/limited.pid limited </dev/null": {
    after: "kill -0 $(cat /tmp/limited.pid)",
    shows: /^$/,
  },
  "runt state limited": { shows: /"status": "created"/ },
  "runt start limited": { after: stopped("limited"), shows: /67108864/ },
  "runt list": {},
  "runt delete limited": { after: "! runt state limited 2>/dev/null", shows: /^$/ },
  "runt run -b build/bundles/shell shell": { terminal: "echo two=$((1 + 1))\nexit\n", shows: /two=2/ },
  "runt run mine": { terminal: "echo two=$((1 + 1))\nexit\n", shows: /two=2/ },
  "runt --root /tmp/yours/state run yours": { terminal: "echo two=$((1 + 1))\nexit\n", shows: /two=2/ },
  "runt validate": { shows: /^0 errors, 0 warnings/ },
  "runt validate --host none": { shows: /^0 errors, 0 warnings/ },
  "runt plan": { shows: /^# sha256:[0-9a-f]{64}, \d+ operations\n/ },
  "runt spec": { after: "test -s config.json", shows: /^$/ },
  "runt check": { shows: /\d+ of \d+ available/ },
  "runt explain mount-kind": { shows: /^error mount-kind: / },
  "runt help VERB": { shows: /runt run/ },
  "man runt-VERB": { shows: /runt-run/ },
  "runt completion bash|zsh|fish": { shows: /^#compdef runt/ },
  // Carried from the node to the laptop, and the digest that its reader has read back to the node.
  "runt plan --host node.json -b /bundles/web web": {
    before: `cp node.json /tmp/yours && mkdir -p ${WEB} && cp -a /tmp/mine/rootfs ${WEB} && sed 's/"terminal": true/"terminal": false/' config.json > ${WEB}/config.json`,
    shows: /^# sha256:[0-9a-f]{64}, \d+ operations\n/,
  },
  "runt create --expect-plan sha256:... -b /bundles/web web": { shows: /^$/ },
  "runt inspect -f text web": { shows: /created/ },
  "runt plan -b BUNDLE": { shows: /^# sha256:/ },
  "runt --root ROOT list": { before: `runt --root /tmp/roots create -b ${WEB} seen`, shows: /seen +\d+ +created/ },
  "runt --root ROOT state ID": { after: "runt --root /tmp/roots delete --force seen", shows: /"status": "created"/ },
  "runt --debug create -b BUNDLE ID": { after: "runt delete --force seen" },
  "make install PREFIX=/usr/local": {},
  "mkdir -p /usr/local/lib/runt && ln -s /usr/bin/runt /usr/local/lib/runt/runc": { after: "test -L /usr/local/lib/runt/runc" },
  "mkdir -p ~/.config/runt && runt schema > ~/.config/runt/config.schema.json": {
    after: "grep -c schema /tmp/home/.config/runt/config.schema.json",
  },
  "runt delete --force web": { after: "! runt state web 2>/dev/null", shows: /^$/ },
};

/** A reader sees the program's output and its end before the next command. */
function stopped(id: string): string {
  return `for try in $(seq 200); do runt state ${id} | grep -q '"status": "stopped"' && exit 0; sleep 0.05; done; exit 1`;
}

/** Without manual pages' reader there is none to read; everything else is there wherever the tests run. */
export const NEEDS: Readonly<Record<string, string>> = { "man runt-VERB": "/usr/bin/man" };
