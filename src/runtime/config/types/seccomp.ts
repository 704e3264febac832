/** What a filter of system calls is compiled from, and what loading it takes. */

/** One comparison of an argument: `enum scmp_compare` and its operands (mask and value for MASKED_EQ). */
export interface SeccompCondition {
  readonly index: number;
  readonly operator: number;
  readonly value: bigint;
  readonly valueTwo: bigint;
}

/** What to answer (SECCOMP_RET_* with data) when one of the calls is made and all conditions hold. */
export interface SeccompRule {
  readonly action: number;
  readonly names: readonly string[];
  readonly conditions: readonly SeccompCondition[];
}

/** What a filter is compiled from. */
export interface SeccompProfile {
  readonly defaultAction: number;
  /** Beside the native one; tokens of libseccomp. */
  readonly architectures: readonly number[];
  readonly rules: readonly SeccompRule[];
  /** Calls of rules that say what the default says. */
  readonly idle: readonly string[];
  /** System calls newer than every one of the profile give ENOSYS. */
  readonly enosysForNewer: boolean;
}

/** What loading a filter takes, whatever is in it. */
export interface SeccompFilter {
  /** SECCOMP_FILTER_FLAG_*. */
  readonly flags: number;
  /** True: the filter lets everything through that init does while it waits for `start`. */
  readonly roomForInit: boolean;
  /** Present when a rule notifies. */
  readonly listener?: { readonly path: string; readonly metadata: string };
}
