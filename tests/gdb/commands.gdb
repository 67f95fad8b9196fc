break stop_here
run
up
echo -- what gdb says of weir begins here --\n
print sem
print in_debt
print free_mutex
print mutex
print recursive_mutex
print shared_mutex
print event
print auto_reset_event
print latch
print wait_group
print barrier
print full
print empty
print value
print timed_out
weir waiters sem
weir waiters &mutex
weir waiters shared_mutex
weir waiters full
weir waiters latch
