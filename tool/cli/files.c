// The programs that a command line names, in files and folders. See options.h.
#include "tool/cli/options.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int by_bytes(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

// Programs below a folder, in the order of their names. Folders that are symbolic links are not
// entered: they could lead back.
static bool add_folder(const cli_arguments *args, cli_files *to, const char *path) {
  struct dirent **entries;
  int count = scandir(path, &entries, is_visible, by_bytes);
  bool good = count >= 0;
  if (!good)
    cli_error("%s: %s", path, strerror(errno));
  for (int i = 0; i < count; i++) {
    struct stat status;
    size_t length = strlen(path);
    const char *child =
        arena_printf(args->memory, "%s%s%s", path, length && path[length - 1] == '/' ? "" : "/",
                     entries[i]->d_name);
    free(entries[i]);
    if (lstat(child, &status) == 0 && S_ISDIR(status.st_mode))
      good &= add_folder(args, to, child);
    else if (cli_ends_with(child, ".perm"))
      vec_push(args->memory, to, child);
  }
  if (count >= 0)
    free(entries);
  return good;
}

bool cli_find_programs(const cli_arguments *args, cli_files *out) {
  bool good = true;
  *out = (cli_files){0};
  for (size_t i = 0; i < args->operand_count; i++) {
    const char *path = args->operands[i];
    struct stat status;
    bool there = !strcmp(path, "-") || stat(path, &status) == 0;
    bool folder = there && strcmp(path, "-") && S_ISDIR(status.st_mode);
    size_t before = out->count;
    if (!there)
      cli_error("%s: %s", path, strerror(errno));
    bool added = there && (!folder || add_folder(args, out, path));
    if (added && !folder)
      vec_push(args->memory, out, path);
    if (added && out->count == before)
      cli_error("%s: there is no program (*.perm) in this folder", path);
    good &= added && out->count > before;
  }
  return good;
}
