// The programs that a command line names, in files and folders. See options.h.
#include "tool/cli/options.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

static bool add_file(cli_files *to, const char *path) {
  if (to->count == to->capacity) {
    size_t capacity = to->capacity ? 2 * to->capacity : 64;
    char **grown = realloc(to->paths, capacity * sizeof *grown);
    if (!grown) {
      cli_out_of_memory();
      return false;
    }
    to->paths = grown;
    to->capacity = capacity;
  }
  char *copy = to->paths[to->count] = strdup(path);
  if (!copy)
    cli_out_of_memory();
  to->count += copy != NULL;
  return copy != NULL;
}

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int by_bytes(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

// Programs below a folder, in the order of their names. Folders that are symbolic links are not
// entered: they could lead back.
static bool add_folder(cli_files *to, const char *path) {
  struct dirent **entries;
  int count = scandir(path, &entries, is_visible, by_bytes);
  bool good = count >= 0;
  if (!good)
    cli_error("%s: %s", path, strerror(errno));
  for (int i = 0; i < count; i++) {
    text child = {0};
    struct stat status;
    size_t length = strlen(path);
    text_printf(&child, "%s%s%s", path, length && path[length - 1] == '/' ? "" : "/",
                entries[i]->d_name);
    if (child.failed)
      good = false, cli_out_of_memory();
    else if (lstat(child.data, &status) == 0 && S_ISDIR(status.st_mode))
      good &= add_folder(to, child.data);
    else if (cli_ends_with(entries[i]->d_name, ".perm"))
      good &= add_file(to, child.data);
    text_free(&child);
    free(entries[i]);
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
    bool added = there && (folder ? add_folder(out, path) : add_file(out, path));
    if (added && out->count == before)
      cli_error("%s: there is no program (*.perm) in this folder", path);
    good &= added && out->count > before;
  }
  return good;
}

void cli_files_free(cli_files *f) {
  for (size_t i = 0; i < f->count; i++)
    free(f->paths[i]);
  free(f->paths);
}
