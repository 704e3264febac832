/*
 * The rendezvous without sleep. Waking a processor takes longer than much of what is waited for: who waits for a message that is about to come
 * looks at a word of the page shared with the other side for a while, then sleeps in recvmsg(2) as ever. Only hints: what counts comes by the socket.
 */
#ifndef RUNT_DOORBELL_H
#define RUNT_DOORBELL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/page.h"

#if defined(__x86_64__)
/* 0.2 to 0.5 ms. */
static inline uint64_t bell_patience(void) { return 1000000; }
static inline uint64_t bell_time(void) { return __builtin_ia32_rdtsc(); }
static inline void bell_pause(void) { __builtin_ia32_pause(); }
#elif defined(__aarch64__)
static inline uint64_t bell_patience(void) {
  uint64_t frequency;
  __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  return frequency / 2500;
}
static inline uint64_t bell_time(void) {
  uint64_t time;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(time));
  return time;
}
static inline void bell_pause(void) { __asm__ volatile("yield"); }
#endif

/* sched_yield(2): what is waited for may need a thread of the kernel, and it may have to run on this very processor (a grace period of RCU). */
void bell_yield(void);
/* At most so often while one waits. */
#define BELL_YIELDS 24

/* NULL = there is no page. */
static inline void bell_ring(volatile uint32_t *page, unsigned word) {
  if (page != NULL) __atomic_fetch_add(page + word, 1, __ATOMIC_RELEASE);
}

/* Whether the word counts more than `heard`. */
static inline bool bell_is_past(const volatile uint32_t *page, unsigned word, uint32_t heard) {
  return (int32_t)(__atomic_load_n(page + word, __ATOMIC_ACQUIRE) - heard) > 0;
}

/* Until more than `heard` were told of, or patience is at an end. */
static inline void bell_await(const volatile uint32_t *page, unsigned word, uint32_t heard) {
  if (page == NULL || page[PAGE_SPINS] == 0) return;
  uint64_t now = bell_time(), turn = now + bell_patience() / BELL_YIELDS;
  const uint64_t end = now + bell_patience();
  for (; !bell_is_past(page, word, heard) && now < end; now = bell_time()) {
    bell_pause();
    if (now < turn) continue;
    bell_yield();
    turn = bell_time() + bell_patience() / BELL_YIELDS;
  }
}
#endif
