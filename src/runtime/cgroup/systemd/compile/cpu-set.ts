const HIGHEST = 0xffff;

/** "0-3,8" as AllowedCPUs has it: bit N of the whole, lowest byte first. undefined for what is no list (the kernel will say so). */
export function cpuBits(list: string): Uint8Array | undefined {
  const bytes: number[] = [];
  for (const part of list.split(",")) {
    const match = /^\s*(\d{1,5})(?:-(\d{1,5}))?\s*$/.exec(part);
    if (match === null) return undefined;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (last < first || last > HIGHEST) return undefined;
    for (let cpu = first; cpu <= last; cpu++) bytes[cpu >> 3] = (bytes[cpu >> 3] ?? 0) | (1 << (cpu & 7));
  }
  return Uint8Array.from(bytes, (byte) => byte ?? 0);
}
