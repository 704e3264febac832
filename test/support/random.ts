/** Pseudo-random numbers, the same in every run: a linear congruential generator with 64 bits, of which the upper ones are used. */
export function random(seed: number): (below: number) => number {
  let state = BigInt(seed);
  return (below) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffff_ffff_ffff_ffffn;
    return Number(state >> 33n) % below;
  };
}
