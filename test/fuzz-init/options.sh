# Sourced: what the sanitizers are told. A pointer to a variable of a function that has returned is a finding; the helper frees nothing, and
# what it maps is freed for it.
export ASAN_OPTIONS=detect_stack_use_after_return=1:detect_leaks=0:quarantine_size_mb=8:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
# Seconds and megabytes that one execution may take. The sanitizers themselves take some 40 of these.
LIMITS='-timeout=10 -rss_limit_mb=192 -malloc_limit_mb=64'
