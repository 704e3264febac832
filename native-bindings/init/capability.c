/* Capability sets (capabilities(7)), by raw capset(2) of version 3. */
#include "../testing/disabled_defences.h"
#include "run.h"
#include "../shared/sys.h"

struct sets {
  uint64_t effective, permitted, inheritable;
};

static long get_sets(struct sets *out) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  long error = sys(__NR_capget, &header, data);
  out->effective = data[0].effective | (uint64_t)data[1].effective << 32;
  out->permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
  out->inheritable = data[0].inheritable | (uint64_t)data[1].inheritable << 32;
  return error;
}

static long set_sets(const struct sets *sets) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  for (int i = 0; i < 2; i++) {
    data[i].effective = (uint32_t)(sets->effective >> 32 * i);
    data[i].permitted = (uint32_t)(sets->permitted >> 32 * i);
    data[i].inheritable = (uint32_t)(sets->inheritable >> 32 * i);
  }
  return sys(__NR_capset, &header, data);
}

static uint64_t bounding_set(void) {
  uint64_t set = 0;
  for (unsigned capability = 0; capability < 64; capability++) {
    long held = sys_prctl(PR_CAPBSET_READ, capability, 0);
    if (held < 0) break;
    set |= (uint64_t)held << capability;
  }
  return set;
}

long op_capability_bounding(struct run *run, const struct op_capability_bounding *op) {
  for (unsigned capability = 0; capability < 64 && !DEFENCE_DISABLED(capabilities); capability++) {
    if ((op->mask >> capability & 1) != 0) continue;
    long error = sys_prctl(PR_CAPBSET_DROP, capability, 0);
    // The number is above the last capability that this kernel knows.
    if (error == -EINVAL) break;
    // A capability that is not in the set need not be dropped, and this process may lack the right to drop.
    if (error < 0 && sys_prctl(PR_CAPBSET_READ, capability, 0) > 0) return fail(run, error, NULL, "PR_CAPBSET_DROP");
  }
  return 0;
}

static uint64_t reduce(struct run *run, const char *set, uint64_t wanted, uint64_t possible) {
  uint64_t missing = wanted & ~possible;
  if (missing != 0) {
    char text[96];
    struct buffer out = BUFFER(text);
    put_text(&out, "capabilities left out of the ");
    put_text(&out, set);
    put_text(&out, " set: 0x");
    put_hex(&out, missing);
    warn(run, -EPERM, NULL, text);
  }
  return wanted & possible;
}

static void raise_ambient(struct run *run, uint64_t mask) {
  uint64_t missing = 0;
  sys(__NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  for (unsigned capability = 0; capability < 64; capability++) {
    if ((mask >> capability & 1) && sys(__NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) < 0)
      missing |= UINT64_C(1) << capability;
  }
  reduce(run, "ambient", mask, ~missing);
}

long op_capability_set(struct run *run, const struct op_capability_set *op) {
  struct sets held, sets;
  if (DEFENCE_DISABLED(capabilities)) return 0;
  long error = get_sets(&held);
  if (error < 0) return fail(run, error, NULL, "capget");
  sets.permitted = reduce(run, "permitted", op->permitted, held.permitted);
  sets.effective = reduce(run, "effective", op->effective, sets.permitted);
  // Whoever holds a capability has it in its bounding set: only of the others that has to be asked.
  if ((op->bounding & ~held.permitted) != 0) reduce(run, "bounding", op->bounding, bounding_set());
  // capset(2) adds nothing to the inheritable set that is not in the bounding set.
  uint64_t inheritable = op->inheritable == 0 ? 0 : held.inheritable | (held.permitted & bounding_set());
  sets.inheritable = DEFENCE_DISABLED(inheritable) ? sets.permitted : reduce(run, "inheritable", op->inheritable, inheritable);
  error = set_sets(&sets);
  if (error < 0) return fail(run, error, NULL, "capset");
  raise_ambient(run, DEFENCE_DISABLED(ambient) ? sets.inheritable : op->ambient);
  sys_prctl(PR_SET_KEEPCAPS, 0, 0);
  rearm_death_signal(run);
  return 0;
}

long capability_raise(unsigned capability) {
  struct sets sets;
  long error = get_sets(&sets);
  if (error < 0) return error;
  uint64_t effective = sets.effective | (sets.permitted & UINT64_C(1) << capability);
  if (effective == sets.effective) return 0;
  sets.effective = effective;
  return set_sets(&sets);
}

long op_capability_drop(struct run *run, const struct op_capability_drop *op) {
  struct sets sets;
  long error = get_sets(&sets);
  if (error < 0) return fail(run, error, NULL, "capget");
  sets.effective &= ~op->effective;
  sets.permitted &= ~op->permitted;
  error = set_sets(&sets);
  return error < 0 ? fail(run, error, NULL, "capset") : 0;
}
