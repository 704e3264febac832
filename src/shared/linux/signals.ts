/** Signal names and numbers of Linux on x86-64 and arm64. Source: signal(7). */
export const SIGNALS = {
  HUP: 1,
  INT: 2,
  QUIT: 3,
  ILL: 4,
  TRAP: 5,
  ABRT: 6,
  IOT: 6,
  BUS: 7,
  FPE: 8,
  KILL: 9,
  USR1: 10,
  SEGV: 11,
  USR2: 12,
  PIPE: 13,
  ALRM: 14,
  TERM: 15,
  STKFLT: 16,
  CHLD: 17,
  CLD: 17,
  CONT: 18,
  STOP: 19,
  TSTP: 20,
  TTIN: 21,
  TTOU: 22,
  URG: 23,
  XCPU: 24,
  XFSZ: 25,
  VTALRM: 26,
  PROF: 27,
  WINCH: 28,
  IO: 29,
  POLL: 29,
  PWR: 30,
  SYS: 31,
} as const;
export type SignalName = keyof typeof SIGNALS;

/** The C library keeps 32 and 33 for itself. */
const REALTIME_FIRST = 34;
const REALTIME_LAST = 64;

/** The number of a name without "SIG", in upper case: "TERM", "RTMIN+3", "RTMAX-1". undefined: there is no such signal. */
export function signalNumber(name: SignalName): number;
export function signalNumber(name: string): number | undefined;
export function signalNumber(name: string): number | undefined {
  return Object.hasOwn(SIGNALS, name) ? SIGNALS[name as SignalName] : realtimeNumber(name);
}

/** "TERM" of 15; the first name where there are two; "RTMIN+3" of 37; undefined for no signal. */
export function signalName(number: number): string | undefined {
  const known = Object.entries(SIGNALS).find(([, value]) => value === number)?.[0];
  if (known !== undefined || number < REALTIME_FIRST || number > REALTIME_LAST) return known;
  return number === REALTIME_FIRST ? "RTMIN" : `RTMIN+${number - REALTIME_FIRST}`;
}

function realtimeNumber(name: string): number | undefined {
  const match = /^RTM(?:IN(?:\+(\d+))?|AX(?:-(\d+))?)$/.exec(name);
  if (!match) return undefined;
  const number = name.startsWith("RTMIN") ? REALTIME_FIRST + Number(match[1] ?? 0) : REALTIME_LAST - Number(match[2] ?? 0);
  return number >= REALTIME_FIRST && number <= REALTIME_LAST ? number : undefined;
}
