"""The system calls that a run may make. Every other one is refused, and named in the result.

`MEASURED` was recorded in the processes of runs, from the point where they are confined, by
`scripts/measured_calls.py`: flow templates with scripted models and agents, retrieval, flows with files, Langflow's
starter projects, and scenarios. `ORDINARY` is what Python, its standard library and the C library use for the same
purposes in other code: files in the private folder, threads, time, and sockets that are open already. Neither has
calls that change the owner, mode, times or attributes of a file, watch files, make memory that is not limited, or
look at other processes.
"""

MEASURED = frozenset(
    """
    brk clone close connect epoll_create1 epoll_ctl epoll_wait exit exit_group fcntl futex
    getdents64 getpeername getpid getrandom getrusage getsockname getsockopt gettid ioctl landlock_add_rule
    landlock_create_ruleset landlock_restrict_self lseek madvise mkdir mmap mprotect munmap newfstatat openat poll
    read recvfrom rseq rt_sigprocmask sendmmsg sendmsg sendto set_robust_list setsockopt socket socketpair uname
    write
    """.split()  # noqa: SIM905 - a list of them would be a line for each
)
ORDINARY = frozenset(
    """
    access arch_prctl bind clock_getres clock_gettime clock_nanosleep close_range copy_file_range creat dup dup2
    dup3 epoll_create epoll_pwait epoll_pwait2 eventfd2 faccessat faccessat2 fadvise64 fallocate fdatasync flock
    fstat fstatfs fsync ftruncate getcpu getcwd getegid geteuid getgid getgroups getpgid getpgrp getppid getpriority
    getresgid getresuid getrlimit getsid gettimeofday getuid kill link linkat lstat membarrier mincore mkdirat mlock
    mremap msync munlock nanosleep open pause pipe pipe2 ppoll pread64 preadv preadv2 prlimit64 pselect6 pwrite64
    pwritev pwritev2 readlink readlinkat readv recvmmsg recvmsg rename renameat renameat2 restart_syscall rmdir
    rt_sigaction rt_sigpending rt_sigreturn rt_sigsuspend rt_sigtimedwait sched_getaffinity sched_getparam
    sched_getscheduler sched_yield select sendfile set_tid_address shutdown sigaltstack splice stat statfs statx
    symlink symlinkat sync_file_range tee tgkill time times tkill truncate umask unlink unlinkat wait4
    waitid writev
    """.split()  # noqa: SIM905 - a list of them would be a line for each
)
ALLOWED = MEASURED | ORDINARY
DENIED = frozenset({"fork", "vfork", "execve", "execveat", "listen", "setrlimit", "fchown", "sysinfo"})
"""Calls that programs expect to be refused for want of permission, as SQLite does `fchown`; they are not named.

`sysinfo` counts the processes of the machine; whoever asks it for the memory goes on without.
"""
