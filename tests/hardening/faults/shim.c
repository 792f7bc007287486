/* Faults at the edge of the kernel, for tests: an LD_PRELOAD library.

   It counts what changes files below one folder, and at operation number N it does what it was
   armed for. Everything in the process passes here, SQLite inside of apsw and Python's own writes
   alike. Outside of that folder, and before `fault_arm` is called, it does nothing at all.

     counted   write pwrite writev   fsync fdatasync   rename   unlink rmdir   ftruncate
               open that makes or empties a file   mkdir   link

   What is written through a memory map (the -shm of SQLite) is not seen: it is rebuilt after a
   crash, and holds nothing of its own.
*/

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* The order is that of KINDS in shim.py. */
enum kind { LIST, KILL, KILL_AFTER, TORN, SHORT, FULL_ONCE, FULL, BROKEN, STUCK };
enum verdict { PASS, HALF, FAIL };

static char root[PATH_MAX];
static size_t root_length;
static long act_at;
static int act_kind;
static int log_fd = -1;
static atomic_long counted;

void fault_arm(const char *folder, long at, int kind)
{
    atomic_store(&counted, 0);
    act_at = at;
    act_kind = kind;
    root_length = strlen(folder);
    if (root_length >= sizeof root)
        root_length = 0;
    memcpy(root, folder, root_length);
    root[root_length] = 0;
}

void fault_disarm(void) { root_length = 0; }
void fault_log_to(int fd) { log_fd = fd; }
long fault_count(void) { return atomic_load(&counted); }

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        _exit(97);
    return found;
}

#define NEXT(type, name) \
    static __typeof__(type) real; \
    if (!real) \
        real = (__typeof__(type))next(name)

static void die(void)
{
    syscall(SYS_kill, (pid_t)syscall(SYS_getpid), SIGKILL);
    for (;;)
        pause();
}

/* -- where ------------------------------------------------------------------------------------ */

static int is_below(const char *path)
{
    return root_length && !strncmp(path, root, root_length) &&
           (path[root_length] == '/' || !path[root_length]);
}

static int fd_path(int fd, char *path)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return 1;
}

static int name_path(int folder, const char *name, char *path)
{
    char base[PATH_MAX];
    if (name[0] == '/')
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
    if (folder == AT_FDCWD ? !getcwd(base, sizeof base) : !fd_path(folder, base))
        return 0;
    return snprintf(path, PATH_MAX, "%s/%s", base, name) < PATH_MAX;
}

/* -- what --------------------------------------------------------------------------------------*/

static void tell(const char *what, const char *path)
{
    char line[PATH_MAX + 32];
    int length = snprintf(line, sizeof line, "%s %s\n", what, path);
    if (log_fd >= 0 && length > 0)
        (void)!syscall(SYS_write, log_fd, line, (size_t)length);
}

static int needs_room(const char *what)
{
    return !strcmp(what, "write") || !strcmp(what, "create") || !strcmp(what, "mkdir") ||
           !strcmp(what, "link");
}

/* Of a file that is there: a missing one is missed as ever. */
static int is_removal(const char *what, const char *path)
{
    struct stat found;
    return !strcmp(what, "unlink") && !fstatat(AT_FDCWD, path, &found, AT_SYMLINK_NOFOLLOW);
}

static int failing(int number)
{
    errno = number;
    return FAIL;
}

/* Called before the deed. `dying` is set when the process is to die after it. */
static int decide(const char *what, const char *path, int *dying)
{
    long mine = atomic_fetch_add(&counted, 1) + 1;
    tell(what, path);
    if (act_kind == FULL && act_at && mine >= act_at && needs_room(what))
        return failing(ENOSPC);
    if (act_kind == STUCK && act_at && mine >= act_at && is_removal(what, path))
        return failing(EBUSY);
    if (mine != act_at)
        return PASS;
    switch (act_kind) {
    case KILL:
        die();
        return PASS;
    case KILL_AFTER:
        *dying = 1;
        return PASS;
    case TORN:
        *dying = 1;
        return HALF;
    case SHORT:
        return HALF;
    case FULL_ONCE:
        return failing(ENOSPC);
    case BROKEN:
        return failing(EIO);
    }
    return PASS;
}

static int ask_fd(const char *what, int fd, int *dying)
{
    char path[PATH_MAX];
    if (!root_length || !fd_path(fd, path) || !is_below(path))
        return PASS;
    return decide(what, path, dying);
}

static int ask_name(const char *what, int folder, const char *name, int *dying)
{
    char path[PATH_MAX];
    if (!root_length || !name || !name_path(folder, name, path) || !is_below(path))
        return PASS;
    return decide(what, path, dying);
}

/* A deed that is done whole or not at all. */
#define WHOLE(ask, deed) \
    int dying = 0; \
    if ((ask) == FAIL) \
        return -1; \
    int done = (deed); \
    int why = errno; \
    if (dying) \
        die(); \
    errno = why; \
    return done

/* -- writes ------------------------------------------------------------------------------------*/

#define PARTIAL(fd, size, deed) \
    int dying = 0; \
    int verdict = ask_fd("write", fd, &dying); \
    if (verdict == FAIL) \
        return -1; \
    if (verdict == HALF) \
        size = size / 2; \
    ssize_t done = (deed); \
    int why = errno; \
    if (dying) \
        die(); \
    errno = why; \
    return done

ssize_t write(int fd, const void *data, size_t size)
{
    NEXT(ssize_t (*)(int, const void *, size_t), "write");
    PARTIAL(fd, size, real(fd, data, size));
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    NEXT(ssize_t (*)(int, const void *, size_t, off_t), "pwrite");
    PARTIAL(fd, size, real(fd, data, size, at));
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    NEXT(ssize_t (*)(int, const void *, size_t, off64_t), "pwrite64");
    PARTIAL(fd, size, real(fd, data, size, at));
}

/* Half of several buffers is half of the buffers, and of one buffer half of its bytes. */
ssize_t writev(int fd, const struct iovec *parts, int count)
{
    NEXT(ssize_t (*)(int, const struct iovec *, int), "writev");
    if (count == 1)
        return write(fd, parts[0].iov_base, parts[0].iov_len);
    PARTIAL(fd, count, real(fd, parts, count));
}

/* -- what is on disk ---------------------------------------------------------------------------*/

int fsync(int fd)
{
    NEXT(int (*)(int), "fsync");
    WHOLE(ask_fd("fsync", fd, &dying), real(fd));
}

int fdatasync(int fd)
{
    NEXT(int (*)(int), "fdatasync");
    WHOLE(ask_fd("fsync", fd, &dying), real(fd));
}

int ftruncate(int fd, off_t size)
{
    NEXT(int (*)(int, off_t), "ftruncate");
    WHOLE(ask_fd("truncate", fd, &dying), real(fd, size));
}

int ftruncate64(int fd, off64_t size)
{
    NEXT(int (*)(int, off64_t), "ftruncate64");
    WHOLE(ask_fd("truncate", fd, &dying), real(fd, size));
}

/* -- names -------------------------------------------------------------------------------------*/

int rename(const char *old, const char *new)
{
    NEXT(int (*)(const char *, const char *), "rename");
    WHOLE(ask_name("rename", AT_FDCWD, new, &dying), real(old, new));
}

int renameat(int from, const char *old, int to, const char *new)
{
    NEXT(int (*)(int, const char *, int, const char *), "renameat");
    WHOLE(ask_name("rename", to, new, &dying), real(from, old, to, new));
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    NEXT(int (*)(int, const char *, int, const char *, unsigned), "renameat2");
    WHOLE(ask_name("rename", to, new, &dying), real(from, old, to, new, flags));
}

int unlink(const char *name)
{
    NEXT(int (*)(const char *), "unlink");
    WHOLE(ask_name("unlink", AT_FDCWD, name, &dying), real(name));
}

int unlinkat(int folder, const char *name, int flags)
{
    NEXT(int (*)(int, const char *, int), "unlinkat");
    WHOLE(ask_name("unlink", folder, name, &dying), real(folder, name, flags));
}

int rmdir(const char *name)
{
    NEXT(int (*)(const char *), "rmdir");
    WHOLE(ask_name("unlink", AT_FDCWD, name, &dying), real(name));
}

int mkdir(const char *name, mode_t mode)
{
    NEXT(int (*)(const char *, mode_t), "mkdir");
    WHOLE(ask_name("mkdir", AT_FDCWD, name, &dying), real(name, mode));
}

int mkdirat(int folder, const char *name, mode_t mode)
{
    NEXT(int (*)(int, const char *, mode_t), "mkdirat");
    WHOLE(ask_name("mkdir", folder, name, &dying), real(folder, name, mode));
}

int link(const char *old, const char *new)
{
    NEXT(int (*)(const char *, const char *), "link");
    WHOLE(ask_name("link", AT_FDCWD, new, &dying), real(old, new));
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    NEXT(int (*)(int, const char *, int, const char *, int), "linkat");
    WHOLE(ask_name("link", to, new, &dying), real(from, old, to, new, flags));
}

/* -- files made or emptied ----------------------------------------------------------------------*/

static int ask_open(int folder, const char *name, int flags, int *dying)
{
    if (!root_length)
        return PASS;
    if ((flags & O_TMPFILE) == O_TMPFILE) /* a file that has no name yet */
        return ask_name("create", folder, name, dying);
    if (!(flags & (O_CREAT | O_TRUNC)))
        return PASS;
    struct stat found;
    int is_there = !fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW);
    if (is_there && (flags & O_EXCL || !(flags & O_TRUNC)))
        return PASS; /* it is opened as it is, or refused */
    return ask_name(is_there ? "truncate" : "create", folder, name, dying);
}

#define MODE_OF(flags) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

int open(const char *name, int flags, ...)
{
    NEXT(int (*)(const char *, int, ...), "open");
    MODE_OF(flags)
    WHOLE(ask_open(AT_FDCWD, name, flags, &dying), real(name, flags, mode));
}

int open64(const char *name, int flags, ...)
{
    NEXT(int (*)(const char *, int, ...), "open64");
    MODE_OF(flags)
    WHOLE(ask_open(AT_FDCWD, name, flags, &dying), real(name, flags, mode));
}

int openat(int folder, const char *name, int flags, ...)
{
    NEXT(int (*)(int, const char *, int, ...), "openat");
    MODE_OF(flags)
    WHOLE(ask_open(folder, name, flags, &dying), real(folder, name, flags, mode));
}

int openat64(int folder, const char *name, int flags, ...)
{
    NEXT(int (*)(int, const char *, int, ...), "openat64");
    MODE_OF(flags)
    WHOLE(ask_open(folder, name, flags, &dying), real(folder, name, flags, mode));
}
