/*
 * Spin-waiting for a message. Waking a processor often takes longer than the message takes to come, so a process that waits first looks at a word of the
 * page that it shares with the other side, and only then sleeps in recvmsg(2). The words are hints: the socket carries the messages.
 */
#ifndef RUNT_SPIN_WAIT_H
#define RUNT_SPIN_WAIT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/page.h"

#if defined(__x86_64__)
/* 0.2 to 0.5 ms. */
static inline uint64_t spin_limit(void) { return 1000000; }
static inline uint64_t spin_clock(void) { return __builtin_ia32_rdtsc(); }
static inline void spin_pause(void) { __builtin_ia32_pause(); }
#elif defined(__aarch64__)
static inline uint64_t spin_limit(void) {
  uint64_t frequency;
  __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  return frequency / 2500;
}
static inline uint64_t spin_clock(void) {
  uint64_t time;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(time));
  return time;
}
static inline void spin_pause(void) { __asm__ volatile("yield"); }
#endif

/* sched_yield(2): what is waited for may need a thread of the kernel, and it may have to run on this very processor (a grace period of RCU). */
void spin_yield(void);
/* At most so often in one wait. */
#define SPIN_YIELDS 24

/* NULL = there is no page. */
static inline void spin_notify(volatile uint32_t *page, unsigned word) {
  if (page != NULL) __atomic_fetch_add(page + word, 1, __ATOMIC_RELEASE);
}

/* Whether the word counts more messages than `heard`. */
static inline bool spin_is_past(const volatile uint32_t *page, unsigned word, uint32_t heard) {
  return (int32_t)(__atomic_load_n(page + word, __ATOMIC_ACQUIRE) - heard) > 0;
}

/* Waits until the word counts more than `heard` messages, or the time is over. */
static inline void spin_wait(const volatile uint32_t *page, unsigned word, uint32_t heard) {
  if (page == NULL || page[PAGE_SPINS] == 0) return;
  uint64_t now = spin_clock(), turn = now + spin_limit() / SPIN_YIELDS;
  const uint64_t end = now + spin_limit();
  for (; !spin_is_past(page, word, heard) && now < end; now = spin_clock()) {
    spin_pause();
    if (now < turn) continue;
    spin_yield();
    turn = spin_clock() + spin_limit() / SPIN_YIELDS;
  }
}
#endif
