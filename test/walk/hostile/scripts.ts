/** One short story for each actor: what a random walk would come to in the end. Pure. */
import {
  COPY_ROOT,
  ENTRIES,
  type Fate,
  type Kind,
  OWN_ROOTS,
  READERS,
  type Reader,
  SIGNALS,
  type Step,
  type Verb,
  WAYS,
  type WorldStep,
} from "./steps.ts";

interface Where {
  readonly root?: number;
  readonly id?: string;
  readonly slot?: number;
  readonly kind?: Kind;
  readonly fate?: Fate;
  readonly together?: boolean;
  readonly reader?: Reader;
}

const call = (
  verb: Verb,
  { root = 0, id = "h0", slot = 2, kind = "polite", fate = [], together = false, ...reader }: Where = {},
): Step => ({
  ...reader,
  verb,
  root,
  id,
  slot,
  kind,
  fate,
  together,
});
/** Of h0 of the first root. */
const damage = (entry: number, way: number): Step => ({ act: "damage", slot: 0, how: entry + ENTRIES.length * way });
const act = (name: WorldStep["act"], slot = 0): Step => ({ act: name, slot });

/** A create or run ends somewhere between these, in microseconds. */
const MOMENTS = Array.from({ length: 12 }, (_, index) => 1_000 * (index + 1));
const killedAt = (moment: number): Fate => [[moment, SIGNALS.KILL]];

/** What could be done to a container, the gentle verbs first. */
const ALL: readonly Verb[] = [
  "state",
  "ps",
  "list",
  "inspect",
  "pause",
  "resume",
  "update",
  "exec",
  "start",
  "kill USR1",
  "kill --all USR1",
  "kill KILL",
  "kill --all KILL",
  "delete",
  "gc",
  "delete --force",
];
const COPIES: readonly Step[] = Array.from({ length: OWN_ROOTS }, (_, root) => ({ root, id: `h${root}` })).flatMap((at) => [
  call("run --detach", { ...at, kind: "deaf", slot: 3 + at.root }),
  call("create", { ...at, id: `h${(at.root + 1) % OWN_ROOTS}`, slot: 6 + at.root }),
  act("copy", at.root),
  ...ALL.flatMap((verb) => ["h0", "h1", "h2"].map((id) => call(verb, { root: COPY_ROOT, id }))),
  act("copy", at.root),
  call("delete --force", at),
  call("delete --force", { ...at, id: `h${(at.root + 1) % OWN_ROOTS}` }),
  ...ALL.flatMap((verb) => ["h0", "h1", "h2"].map((id) => call(verb, { root: COPY_ROOT, id }))),
]);

/** State root whose cgroups are systemd's where there is one: whoever comes then takes the name of the unit. */
const UNITS = 1;
/** State root that is used from inside a PID namespace. */
const INSIDE = 2;

export const SCRIPTS: Readonly<Record<string, readonly Step[]>> = {
  "somebody moves into a cgroup that was there before, after a killed create": MOMENTS.flatMap((moment) => [
    call("create", { slot: 0, fate: killedAt(moment) }),
    act("enter"),
    call("gc"),
    call("delete --force"),
    act("leave"),
  ]),
  "somebody else has the unit of a killed create": MOMENTS.flatMap((moment) => [
    call("create", { root: UNITS, slot: 0, fate: killedAt(moment) }),
    act("enter"),
    call("gc", { root: UNITS }),
    call("delete --force", { root: UNITS }),
    act("leave"),
  ]),
  "somebody moves into it beside a container": [
    call("run --detach", { slot: 0, kind: "shared" }),
    act("enter"),
    call("kill --all USR1"),
    call("kill --all KILL"),
    call("delete --force"),
    act("leave"),
  ],
  "somebody moves into it, and there only in some hierarchies": [
    call("run --detach", { slot: 1, kind: "shared" }),
    act("enter", 1),
    call("kill KILL"),
    call("delete"),
    call("delete --force"),
    act("leave", 1),
  ],
  "another state root has the cgroup of a killed create": MOMENTS.flatMap((moment) => [
    call("create", { fate: killedAt(moment) }),
    call("run --detach", { root: 1, id: "h1" }),
    call("delete --force"),
    call("gc"),
    call("delete --force", { root: 1, id: "h1" }),
  ]),
  "the stopped monitor of a container that is gone": [
    call("run", { kind: "deaf" }),
    act("stop"),
    call("delete --force"),
    call("run --detach", { kind: "deaf" }),
    act("wake"),
    call("delete --force"),
  ],
  "a hook that does not end, in start": [
    call("create", { kind: "start-hook" }),
    call("start"),
    call("state"),
    call("pause"),
    call("update"),
    call("kill TERM"),
    call("delete --force"),
  ],
  "a hook that does not end, in create": [
    call("create", { kind: "create-hook" }),
    call("state"),
    call("pause"),
    call("kill KILL"),
    call("delete --force"),
  ],
  "a container that stops what exec sends in": [
    call("run --detach", { kind: "stopper" }),
    call("exec"),
    call("exec --detach"),
    call("ps"),
    call("delete --force"),
  ],
  "a container that stops what exec sends in, and nobody ends either": [
    call("run --detach", { kind: "stopper" }),
    ...Array.from({ length: 4 }, (_, index) => call("exec --detach", { together: index > 0 })),
    call("state"),
    call("ps"),
    call("state"),
    call("delete --force"),
  ],
  "a process from outside in the cgroup of a container inside a PID namespace": [
    call("run --detach", { root: INSIDE }),
    act("intrude", 2),
    call("kill --all USR1", { root: INSIDE }),
    call("ps", { root: INSIDE }),
    call("kill --all KILL", { root: INSIDE }),
    call("delete --force", { root: INSIDE }),
  ],
  "a runtime that is stopped while it creates, and continued when its id is somebody else's": MOMENTS.flatMap((moment) => [
    call("create", {
      fate: [
        [moment, SIGNALS.STOP],
        [moment + 400_000, SIGNALS.CONT],
      ],
    }),
    call("delete --force", { together: true }),
    call("run --detach", { slot: 3, kind: "deaf" }),
    call("state"),
    call("delete --force"),
  ]),
  // link 3 is h1 of the first root, 4 of the second and 5 of the third.
  "the name of a container is a link, and the root has a directory of somebody else": [3, 4, 5].flatMap((slot) => {
    const at = { root: slot - 3, id: "h1" };
    const all: readonly Verb[] = [
      "create",
      "run --detach",
      "start",
      "kill KILL",
      "exec",
      "pause",
      "update",
      "delete",
      "ps",
      "state",
      "list",
      "gc",
    ];
    return [
      act("link", slot),
      act("foreign", slot),
      ...all.map((verb) => call(verb, at)),
      call("delete --force", at),
      call("run --detach", at),
    ];
  }),
  "records are damaged in every way, and nobody but their container is acted on": (
    ["state.json", "config.json", "exec.fifo"] as const
  ).flatMap((name) =>
    WAYS.flatMap((_, way) => [
      call("create"),
      call("run --detach", { root: 1, id: "h1", slot: 3 }),
      damage(ENTRIES.indexOf(name), way),
      ...ALL.map((verb) => call(verb)),
    ]),
  ),
  "the records of a container are lost, and others take its id and its cgroup": [
    call("run --detach", { kind: "shared" }),
    { act: "lose", slot: 0 },
    ...ALL.map((verb) => call(verb)),
    call("run --detach", { root: 1, kind: "deaf" }),
    call("run --detach", { kind: "deaf", slot: 3 }),
    ...ALL.map((verb) => call(verb)),
    call("run", { kind: "deaf" }),
    { act: "lose", slot: 0 },
    call("run --detach", { kind: "deaf", slot: 4 }),
    ...ALL.map((verb) => call(verb)),
  ],
  "a copy of every state root": COPIES,
  "state roots of others": [4, 5, 6].flatMap((root) => ["h0", "h1", "h2"].flatMap((id) => ALL.map((verb) => call(verb, { root, id })))),
  "nobody reads what a verb writes": READERS.flatMap((reader) => [
    call("create", { reader }),
    call("delete --force"),
    call("run --detach", { kind: "deaf", reader }),
    call("delete --force"),
    call("run --detach", { kind: "deaf" }),
    ...ALL.map((verb) => call(verb, { reader, together: true })),
    call("delete --force"),
  ]),
};
