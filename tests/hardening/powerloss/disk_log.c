/* What a process does to the files below one folder, written down in order and with its data.
 *
 * Loaded with LD_PRELOAD. DISK_LOG names the log, DISK_LOG_BELOW the folder (its real path).
 * A file or folder is known by its inode; a `create` begins a new one, because numbers are used
 * again. One lock is held over each call and its line in the log, so that threads keep their order.
 *
 * Not seen, and not needed here: writes through mmap (SQLite's -shm, which is made anew after a
 * crash), writev, fallocate, copy_file_range. The tests compare a replay of the whole log with the
 * real folder, so a call that is missing here would be noticed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CREATE = 1, MKDIR, WRITE, TRUNCATE, RENAME, UNLINK, LINK, SYNC, MARK, UNNAMED };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;
static char below[PATH_MAX];
static size_t below_len;

#define REAL(type, name) \
  static type (*real)(); \
  if (!real) real = (type(*)())dlsym(RTLD_NEXT, #name)

static ssize_t real_write(int fd, const void *data, size_t size) {
  REAL(ssize_t, write);
  return real(fd, data, size);
}

__attribute__((constructor)) static void begin(void) {
  const char *log = getenv("DISK_LOG"), *folder = getenv("DISK_LOG_BELOW");
  if (!log || !folder) return;
  snprintf(below, sizeof below, "%s", folder);
  below_len = strlen(below);
  int (*real_open)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
  int fd = real_open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 900); /* out of the way of those who count descriptors */
  close(fd);
}

static void put(int kind, uint64_t first, uint64_t second, int64_t offset, const void *data, size_t size) {
  char head[29];
  uint32_t length = size;
  head[0] = kind;
  memcpy(head + 1, &first, 8);
  memcpy(head + 9, &second, 8);
  memcpy(head + 17, &offset, 8);
  memcpy(head + 25, &length, 4);
  if (real_write(log_fd, head, sizeof head) != sizeof head) abort();
  if (size && real_write(log_fd, data, size) != (ssize_t)size) abort();
}

static int is_below(const char *path) {
  return log_fd >= 0 && !strncmp(path, below, below_len) && (path[below_len] == '/' || !path[below_len]);
}

static int fd_path(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, PATH_MAX - 1);
  if (n < 0) return 0;
  path[n] = 0;
  return 1;
}

/* The inode of an open file or folder of ours, or 0. */
static uint64_t fd_inode(int fd) {
  int kept = errno;
  char path[PATH_MAX];
  struct stat status;
  uint64_t inode = 0;
  if (log_fd >= 0 && fd != log_fd && fd_path(fd, path) && is_below(path) && !fstat(fd, &status))
    inode = status.st_ino;
  errno = kept;
  return inode;
}

typedef struct { uint64_t folder; char name[NAME_MAX + 1]; } Place;

/* The folder, by inode, and the last name of a path; 0 where it is none of ours. */
static int place_of(int dirfd, const char *path, Place *place) {
  int kept = errno, ours = 0;
  char folder[PATH_MAX], real_folder[PATH_MAX], start[PATH_MAX] = "";
  struct stat status;
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  if (path[0] != '/') {
    if (dirfd == AT_FDCWD ? !getcwd(start, sizeof start) : !fd_path(dirfd, start)) goto out;
  }
  if (snprintf(folder, sizeof folder, "%s%s%.*s", start, start[0] ? "/" : "",
               (int)(slash ? slash - path : 0), path) >= (int)sizeof folder)
    goto out;
  if (!*name || strlen(name) > NAME_MAX || !realpath(folder, real_folder) || !is_below(real_folder)) goto out;
  if (stat(real_folder, &status)) goto out;
  place->folder = status.st_ino;
  strcpy(place->name, name);
  ours = 1;
out:
  errno = kept;
  return ours;
}

static uint64_t inode_at(int dirfd, const char *path) {
  int kept = errno;
  struct stat status;
  uint64_t inode = fstatat(dirfd, path, &status, AT_SYMLINK_NOFOLLOW) ? 0 : status.st_ino;
  errno = kept;
  return inode;
}

static int is_unnamed(int flags) { return (flags & O_TMPFILE) == O_TMPFILE; }

/* A file that gets its name, if ever, by a link. */
static int opened_unnamed(int (*real)(int, const char *, int, ...), int dirfd, const char *path, int flags, mode_t mode) {
  pthread_mutex_lock(&lock);
  int fd = real(dirfd, path, flags, mode);
  int kept = errno;
  uint64_t inode = fd >= 0 ? fd_inode(fd) : 0;
  if (inode) put(UNNAMED, 0, inode, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = kept;
  return fd;
}

static int opened(int (*real)(int, const char *, int, ...), int dirfd, const char *path, int flags, mode_t mode) {
  if (log_fd >= 0 && is_unnamed(flags)) return opened_unnamed(real, dirfd, path, flags, mode);
  if (log_fd < 0 || !(flags & (O_CREAT | O_TRUNC))) return real(dirfd, path, flags, mode);
  pthread_mutex_lock(&lock);
  Place place;
  int ours = place_of(dirfd, path, &place);
  uint64_t before = ours ? inode_at(dirfd, path) : 0;
  int fd = real(dirfd, path, flags, mode);
  int kept = errno;
  if (ours && fd >= 0) {
    uint64_t inode = fd_inode(fd);
    if (inode && !before)
      put(CREATE, place.folder, inode, 0, place.name, strlen(place.name));
    else if (inode && (flags & O_TRUNC))
      put(TRUNCATE, inode, 0, 0, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = kept;
  return fd;
}

#define MODE(flags) \
  mode_t mode = 0; \
  if (((flags) & O_CREAT) || is_unnamed(flags)) { va_list list; va_start(list, flags); mode = va_arg(list, mode_t); va_end(list); }
#define OPENAT ((int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat64"))

int open(const char *path, int flags, ...) { MODE(flags) return opened(OPENAT, AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opened(OPENAT, AT_FDCWD, path, flags, mode); }
int openat(int dirfd, const char *path, int flags, ...) { MODE(flags) return opened(OPENAT, dirfd, path, flags, mode); }
int openat64(int dirfd, const char *path, int flags, ...) { MODE(flags) return opened(OPENAT, dirfd, path, flags, mode); }

ssize_t write(int fd, const void *data, size_t size) {
  uint64_t inode = fd_inode(fd);
  if (!inode) return real_write(fd, data, size);
  pthread_mutex_lock(&lock);
  ssize_t written = real_write(fd, data, size);
  int kept = errno;
  /* Where it ended: with O_APPEND nobody knows before where it begins. */
  if (written > 0) put(WRITE, inode, 0, lseek(fd, 0, SEEK_CUR) - written, data, written);
  pthread_mutex_unlock(&lock);
  errno = kept;
  return written;
}

#define PWRITE(name) \
  ssize_t name(int fd, const void *data, size_t size, off_t offset) { \
    REAL(ssize_t, name); \
    uint64_t inode = fd_inode(fd); \
    if (!inode) return real(fd, data, size, offset); \
    pthread_mutex_lock(&lock); \
    ssize_t written = real(fd, data, size, offset); \
    int kept = errno; \
    if (written > 0) put(WRITE, inode, 0, offset, data, written); \
    pthread_mutex_unlock(&lock); \
    errno = kept; \
    return written; \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

#define FTRUNCATE(name) \
  int name(int fd, off_t size) { \
    REAL(int, name); \
    uint64_t inode = fd_inode(fd); \
    if (!inode) return real(fd, size); \
    pthread_mutex_lock(&lock); \
    int failed = real(fd, size); \
    if (!failed) put(TRUNCATE, inode, 0, size, NULL, 0); \
    pthread_mutex_unlock(&lock); \
    return failed; \
  }
FTRUNCATE(ftruncate)
FTRUNCATE(ftruncate64)

/* The log says so only when it is done: a cut before it is a cut before the disk has answered. */
#define FSYNC(name) \
  int name(int fd) { \
    REAL(int, name); \
    uint64_t inode = fd_inode(fd); \
    if (!inode) return real(fd); \
    pthread_mutex_lock(&lock); \
    int failed = real(fd); \
    if (!failed) put(SYNC, inode, 0, 0, NULL, 0); \
    pthread_mutex_unlock(&lock); \
    return failed; \
  }
FSYNC(fsync)
FSYNC(fdatasync)

int renameat(int from_fd, const char *from, int to_fd, const char *to) {
  REAL(int, renameat);
  pthread_mutex_lock(&lock);
  Place source, target;
  int ours = log_fd >= 0 && place_of(from_fd, from, &source) && place_of(to_fd, to, &target);
  int failed = real(from_fd, from, to_fd, to);
  if (ours && !failed) {
    char names[2 * NAME_MAX + 2];
    int size = snprintf(names, sizeof names, "%s/%s", source.name, target.name);
    put(RENAME, source.folder, target.folder, 0, names, size);
  }
  pthread_mutex_unlock(&lock);
  return failed;
}
int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int unlinkat(int dirfd, const char *path, int flags) {
  REAL(int, unlinkat);
  pthread_mutex_lock(&lock);
  Place place;
  int ours = log_fd >= 0 && place_of(dirfd, path, &place);
  int failed = real(dirfd, path, flags);
  if (ours && !failed) put(UNLINK, place.folder, 0, 0, place.name, strlen(place.name));
  pthread_mutex_unlock(&lock);
  return failed;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags) {
  REAL(int, linkat);
  pthread_mutex_lock(&lock);
  Place place;
  int ours = log_fd >= 0 && place_of(to_fd, to, &place);
  int failed = real(from_fd, from, to_fd, to, flags);
  if (ours && !failed) put(LINK, place.folder, inode_at(to_fd, to), 0, place.name, strlen(place.name));
  pthread_mutex_unlock(&lock);
  return failed;
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int mkdirat(int dirfd, const char *path, mode_t mode) {
  REAL(int, mkdirat);
  pthread_mutex_lock(&lock);
  Place place;
  int ours = log_fd >= 0 && place_of(dirfd, path, &place);
  int failed = real(dirfd, path, mode);
  if (ours && !failed) put(MKDIR, place.folder, inode_at(dirfd, path), 0, place.name, strlen(place.name));
  pthread_mutex_unlock(&lock);
  return failed;
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

/* The program says what it has been told is done. */
void disk_log_mark(const char *what) {
  pthread_mutex_lock(&lock);
  if (log_fd >= 0) put(MARK, 0, 0, 0, what, strlen(what));
  pthread_mutex_unlock(&lock);
}
