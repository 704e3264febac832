/** blkio/BFQ weight (10..1000) as io.weight (1..10000), linear as in runc: 500 -> 4950. */
export function ioWeight(weight: number): number {
  return 1 + Math.floor(((weight - 10) * 9999) / 990);
}
