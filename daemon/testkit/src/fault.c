/* Faults of the C library's calls, for one program: loaded into it by the module `fault`, which sets the variables.
 * An ordinary user may do this, and a program that nobody may trace does not mind. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* All of them unset: no fault. */
static const char *calls, *file, *deed, *mark, *gate;
static long from, to, seen;

static long number(const char *name)
{
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

/* The variables stay: a program may begin itself anew. It is on its own to give its children none of them. */
__attribute__((constructor)) static void begin(void)
{
    file = getenv("FAULT_FILE");
    deed = getenv("FAULT_DEED");
    mark = getenv("FAULT_MARK");
    gate = getenv("FAULT_GATE");
    from = number("FAULT_FROM");
    to = number("FAULT_TO");
    calls = getenv("FAULT_CALLS");
}

/* Whether `call` is one of the names between commas. */
static int listed(const char *call)
{
    size_t len = strlen(call);
    for (const char *at = calls; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, call, len) && (at[len] == ',' || !at[len]))
            return 1;
    return 0;
}

static int meant(int fd, const char *path)
{
    char link[64], name[PATH_MAX];
    if (!file)
        return 1;
    if (path)
        return !strcmp(path, file);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, name, sizeof name - 1);
    return len == (ssize_t)strlen(file) && !memcmp(name, file, len);
}

static void note(void)
{
    int fd = syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    syscall(SYS_write, fd, "x", 1);
    syscall(SYS_close, fd);
}

/* Whether the fault befalls this call; it is noted before it happens. */
static int hit(const char *call, int fd, const char *path)
{
    if (!calls || !listed(call) || !meant(fd, path))
        return 0;
    long nth = __atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST);
    if (nth < from || nth > to)
        return 0;
    note();
    if (!strcmp(deed, "kill"))
        for (;;)
            kill(getpid(), SIGKILL);
    return 1;
}

/* A call that was hit: it fails, or its caller hears of its end when the gate is open. */
#define CALL(type, name, fd, path, parameters, arguments)                \
    type name parameters                                                 \
    {                                                                    \
        static type (*real) parameters;                                  \
        if (!real)                                                       \
            real = (type(*) parameters)dlsym(RTLD_NEXT, #name);          \
        if (!hit(#name, fd, path))                                       \
            return real arguments;                                       \
        if (!strcmp(deed, "fail")) {                                     \
            errno = EIO;                                                 \
            return -1;                                                   \
        }                                                                \
        type done = real arguments;                                      \
        int cause = errno;                                               \
        while (syscall(SYS_faccessat, AT_FDCWD, gate, F_OK))             \
            usleep(5000);                                                \
        errno = cause;                                                   \
        return done;                                                     \
    }

CALL(ssize_t, write, fd, NULL, (int fd, const void *bytes, size_t len), (fd, bytes, len))
CALL(ssize_t, writev, fd, NULL, (int fd, const struct iovec *parts, int count), (fd, parts, count))
CALL(ssize_t, pwrite64, fd, NULL, (int fd, const void *bytes, size_t len, off64_t at), (fd, bytes, len, at))
CALL(int, fsync, fd, NULL, (int fd), (fd))
CALL(int, fdatasync, fd, NULL, (int fd), (fd))
CALL(int, rename, -1, old, (const char *old, const char *fresh), (old, fresh))
CALL(int, unlink, -1, path, (const char *path), (path))
