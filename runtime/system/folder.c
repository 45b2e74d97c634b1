// Where the cache lies, and who may write to it. See caching.h.
#include "runtime/system/caching.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cache_join_path(char path[CACHE_PATH], const char *folder, const char *name) {
  size_t front = strlen(folder), back = strlen(name);
  if (front + back + 2 > CACHE_PATH)
    return false;
  memmove(path, folder, front);
  path[front] = '/';
  memcpy(path + front + 1, name, back + 1);
  return true;
}

// The folder's path, or "".
static void choose_folder(char path[CACHE_PATH]) {
  const char *own = getenv("PERMC_CACHE"), *shared = getenv("XDG_CACHE_HOME"),
             *home = getenv("HOME");
  bool good = false;
  if (own && *own)
    good = strlen(own) < CACHE_PATH && memcpy(path, own, strlen(own) + 1);
  else if (shared && *shared == '/')
    good = cache_join_path(path, shared, "permc");
  else if (home && *home == '/')
    good = cache_join_path(path, home, ".cache/permc");
  if (!good)
    *path = 0;
}

// Creates the folder and those above it, for this user alone.
static bool make_folders(char *path) {
  for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = 0;
    bool good = mkdir(path, 0700) == 0 || errno == EEXIST || errno == EISDIR || errno == EACCES ||
                errno == EROFS || errno == EPERM;
    *slash = '/';
    if (!good)
      return false;
  }
  return mkdir(path, 0700) == 0 || errno == EEXIST;
}

bool cache_is_private(const struct stat *s) {
  return s->st_uid == geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int cache_open_folder(int above, const char *path) {
  return openat(above, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

DIR *cache_open_files(int above, const char *path) {
  int file = cache_open_folder(above, path);
  DIR *opened = file < 0 ? NULL : fdopendir(file);
  if (file >= 0 && !opened)
    close(file);
  return opened;
}

bool cache_lacks_resources(void) {
  return errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO;
}

static bool refuse_folder(cache *c, const char *path, const char *what, const char *why) {
  snprintf(c->problem, sizeof c->problem, "the cache %.160s %s%s", path, what, why);
  c->folder[0] = 0;
  return false;
}

// Folders of permc alone within the cache's: what else is in that takes no time.
const char cache_entries_folder[] = "permc-entries";
const char cache_work_folder[] = "permc-work";

static bool check_folder(cache *c, const char *path, const struct stat *s) {
  if (!S_ISDIR(s->st_mode))
    return refuse_folder(c, path, "is not a folder", "");
  if (s->st_uid != geteuid())
    return refuse_folder(c, path, "belongs to another user; ",
                         "set PERMC_CACHE to a folder of yours");
  if (!cache_is_private(s))
    return refuse_folder(c, path, "can be written to by other users; ",
                         "remove their write permission");
  return true;
}

// Where one is missing there are no entries.
static bool check_subfolder(cache *c, const char *name, bool create) {
  struct stat s;
  char path[CACHE_PATH];
  if (!cache_join_path(path, c->folder, name))
    return refuse_folder(c, c->folder, "has too long a path", "");
  if (create && mkdir(path, 0700) != 0 && errno != EEXIST)
    return refuse_folder(c, path, "cannot be made: ", strerror(errno));
  return stat(path, &s) != 0 || check_folder(c, path, &s);
}

static void open_folder(cache *c, bool create) {
  struct stat s;
  char path[CACHE_PATH];
  *c = (cache){0};
  choose_folder(c->folder);
  memcpy(path, c->folder, sizeof path);
  if (c->folder[0] == 0)
    snprintf(c->problem, sizeof c->problem,
             "there is no folder for the cache; set HOME or PERMC_CACHE");
  else if ((create && !make_folders(path)) || stat(path, &s) != 0)
    refuse_folder(c, path, "cannot be used: ", strerror(errno));
  else if (check_folder(c, path, &s) && check_subfolder(c, cache_entries_folder, create))
    check_subfolder(c, cache_work_folder, create);
}

void cache_open(cache *c) { open_folder(c, true); }
void cache_look(cache *c) { open_folder(c, false); }
