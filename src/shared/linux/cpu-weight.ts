export const LOWEST_SHARES = 2n;
export const HIGHEST_SHARES = 262_144n;

/**
 * cpu.shares (v1, 2..262144, default 1024) as cpu.weight (v2, 1..10000, default 100): the quadratic curve in log2 that maps
 * both ends and both defaults onto each other, as runc does since 1.3.2.
 */
export function cpuWeight(shares: bigint): bigint {
  if (shares <= LOWEST_SHARES) return 1n;
  if (shares >= HIGHEST_SHARES) return 10_000n;
  const octaves = Math.log2(Number(shares));
  // One fraction, so that 1024 gives the exponent 2 exactly and not a hair more.
  return BigInt(Math.ceil(10 ** ((octaves * octaves + 125 * octaves - 126) / 612)));
}
