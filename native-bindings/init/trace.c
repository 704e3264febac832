/*
 * When the operations of the plan begin and end, for --trace (src/runtime/trace): stored into memory that the runtime reads. The descriptor is closed
 * at once and the mapping ends with execve(2), so that the program of the container never has any of it.
 */
#include "run.h"
#include "../shared/sys.h"
#include "trace.h"

#define CLOCK_REALTIME_ 0
#define CLOCK_MONOTONIC_ 1

static uint64_t now(int clock) {
  struct __kernel_timespec time = {0};
  sys(__NR_clock_gettime, clock, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t trace_now(void) { return now(CLOCK_MONOTONIC_); }

static void note_both(volatile uint64_t *monotonic, volatile uint64_t *realtime) {
  *monotonic = now(CLOCK_MONOTONIC_);
  *realtime = now(CLOCK_REALTIME_);
}

/* Only observers read it: a failure here is no error. */
void trace_map(struct run *run, int fd) {
  struct stat info;
  if (fd < 0) return;
  if (sys_fstat(fd, &info) >= 0 && info.st_size >= (long)sizeof(struct trace_area)) {
    long address = sys(__NR_mmap, 0, info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    volatile struct trace_area *area = (volatile struct trace_area *)address;
    if ((address >= 0 || address < -4095) && area->count <= (info.st_size - sizeof *area) / sizeof *area->operations) {
      run->trace = area;
      note_both(&area->intermediate, &area->intermediate_realtime);
    }
  }
  sys_close(fd);
}

void trace_begin(struct run *run, const struct operation *operation) {
  volatile struct trace_area *area = run->trace;
  if (area == NULL || operation->index >= area->count) return;
  area->operations[operation->index].begin = run->program.is_filtered ? TRACE_UNTIMED : trace_now();
  // From here on the filter decides what a system call does, also one that only asks for the time.
  if (operation->number == OP_seccomp_load) run->program.is_filtered = true;
}

void trace_end(struct run *run, uint32_t index) {
  volatile struct trace_area *area = run->trace;
  if (area == NULL || index >= area->count) return;
  area->operations[index].end = run->program.is_filtered ? TRACE_UNTIMED : trace_now();
}

void trace_clone(struct run *run) {
  if (run->trace != NULL) run->trace->cloned = trace_now();
}

void trace_birth(struct run *run) {
  if (run->trace != NULL) note_both(&run->trace->init, &run->trace->init_realtime);
}

uint64_t monitor_time(const struct monitor_trace *trace) { return trace->fd < 0 ? 0 : trace_now(); }

static void put_microseconds(struct buffer *out, uint64_t time) {
  put_u64(out, time / 1000);
  put_text(out, time % 1000 < 10 ? ".00" : time % 1000 < 100 ? ".0" : ".");
  put_u64(out, time % 1000);
}

static void put_span(struct buffer *out, const char *name, long pid, uint64_t begin, uint64_t end) {
  put_text(out, ",\n{\"name\":\"");
  put_text(out, name);
  put_text(out, "\",\"cat\":\"monitor\",\"ph\":\"X\",\"pid\":");
  put_i64(out, pid);
  put_text(out, ",\"tid\":");
  put_i64(out, pid);
  put_text(out, ",\"ts\":");
  put_microseconds(out, begin);
  put_text(out, ",\"dur\":");
  put_microseconds(out, end - begin);
  put_text(out, ",\"args\":{}}");
}

void monitor_append(const struct monitor_trace *trace) {
  static const char tail[] = "\n]}\n";
  if (trace->fd < 0) return;
  char text[1024];
  struct buffer out = BUFFER(text);
  const long pid = sys(__NR_getpid);
  const uint64_t now = trace_now();
  put_span(&out, "monitor", pid, trace->began, now);
  put_span(&out, "watch", pid, trace->began, trace->ended);
  put_span(&out, "cleanup", pid, trace->ended, now);
  put_text(&out, tail);
  // A file that is not seekable, or that somebody else has changed, stays as it is.
  if (sys(__NR_lseek, trace->fd, -(long)(sizeof tail - 1), SEEK_END_) < 0) return;
  char end[sizeof tail - 1];
  if (sys_read(trace->fd, end, sizeof end) != sizeof end || memcmp(end, tail, sizeof end) != 0) return;
  if (sys(__NR_lseek, trace->fd, -(long)sizeof end, SEEK_END_) >= 0) sys_write(trace->fd, text, out.used);
}
