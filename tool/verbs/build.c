// permc build: an entry as a C library that needs no permc when it runs.
#include "runtime/ahead/ahead.h"
#include "runtime/system/temporary.h"
#include "runtime/values/value.h"
#include "tool/cli/program.h"
#include "tool/verbs/verbs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SPACE = 4096 };

// ---- the folder --------------------------------------------------------------------------------

// Without the slashes at its end.
static size_t name_length(const char *path) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/')
    length--;
  return length;
}

// Whether a library may have that path: there is nothing, or an empty folder. False: reported.
static bool check_folder(const char *path) {
  struct stat s;
  error why = {0};
  char file[PATH_SPACE];
  snprintf(file, sizeof file, "%.*s", (int)name_length(path), path);
  if (stat(path, &s) != 0 && errno == ENOENT)
    return output_check(file, &why) || (cli_error("%s", why.message), false);
  DIR *opened = opendir(path);
  if (!opened) {
    cli_error("%s: %s", path, strerror(errno));
    return false;
  }
  bool empty = true;
  for (struct dirent *e; (e = readdir(opened)) != NULL;)
    empty = empty && (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."));
  closedir(opened);
  if (!empty)
    cli_error("%s is there and is not empty; name another folder with -o, or remove it", path);
  return empty;
}

static bool file_path(char path[PATH_SPACE], const char *folder, const char *name) {
  int length = snprintf(path, PATH_SPACE, "%s/%s", folder, name);
  if (length < PATH_SPACE)
    return true;
  cli_error("%s: %s", folder, strerror(ENAMETOOLONG));
  return false;
}

static void remove_files(const char *folder, const ahead_library *l, size_t count) {
  char path[PATH_SPACE];
  for (size_t i = 0; i < count; i++)
    if (file_path(path, folder, l->files[i].name))
      unlink(path);
  rmdir(folder);
}

// In a folder beside it, which then gets its name: a library is there whole, or not at all.
static bool write_library(const char *path, const ahead_library *l) {
  char folder[PATH_SPACE], file[PATH_SPACE];
  size_t length = name_length(path), count = 0;
  if (snprintf(folder, sizeof folder, "%.*s.XXXXXX", (int)length, path) >= PATH_SPACE ||
      !mkdtemp(folder)) {
    cli_error("%s: %s", path, strerror(errno));
    return false;
  }
  int slot = temporary_register(folder);
  bool good = true;
  for (; good && count < l->count; count += good)
    good = file_path(file, folder, l->files[count].name) &&
           cli_write_file(file, &l->files[count].content);
  mode_t mask = umask(0);
  umask(mask);
  if (good && (chmod(folder, 0777 & ~mask) != 0 || rename(folder, path) != 0)) {
    cli_error("%s: %s", path, strerror(errno));
    good = false;
  }
  if (!good)
    remove_files(folder, l, l->count);
  temporary_unregister(slot);
  return good;
}

// ---- names -------------------------------------------------------------------------------------

static bool is_name(const char *word) {
  bool good = isalpha((unsigned char)*word) || *word == '_';
  for (const char *c = word; *c; c++)
    good = good && (isalnum((unsigned char)*c) || *c == '_');
  return good && strlen(word) <= 100 && strcmp(word, "permc") != 0;
}

// What all names of the library begin with: as asked for, else the entry's, else the folder's.
static cli_status choose_name(const cli_arguments *args, char name[PATH_SPACE]) {
  const char *asked = cli_value(args, "--name"), *entry = cli_value(args, "--entry");
  const char *path = cli_value(args, "-o");
  size_t end = strlen(path), start;
  while (end > 1 && path[end - 1] == '/')
    end--;
  for (start = end; start > 0 && path[start - 1] != '/'; start--)
    ;
  if (asked || entry)
    snprintf(name, PATH_SPACE, "%s", asked ? asked : entry);
  else
    snprintf(name, PATH_SPACE, "%.*s", (int)(end - start), path + start);
  if (is_name(name))
    return CLI_OK;
  return cli_usage_error("the names of the library cannot begin with '%s': give it a name of C, of "
                         "letters, digits and _, with --name",
                         name);
}

// ---- the verb ----------------------------------------------------------------------------------

static bool build_library(cli_session *s, void *with) {
  FREED_BY(ahead_free) ahead_library l = {0};
  ahead_request *request = with;
  request->sizes = s->sizes.first;
  request->size_count = s->sizes.count;
  return cli_report(s->context, ahead_make(s->context, request, &l)) &&
         write_library(cli_value(s->args, "-o"), &l);
}

cli_status verb_build(const cli_arguments *args) {
  const char *path = cli_value(args, "-o"), *target = cli_value(args, "--target");
  char name[PATH_SPACE];
  if (!path)
    return cli_usage_error("build: say with -o which folder the library is to be in");
  if (!cli_is_given(args, "--arguments") && !cli_is_given(args, "--size"))
    return cli_usage_error("build: say the types and lengths of the arguments, such as "
                           "--arguments '[1024]u32', or the sizes of the signature, such as "
                           "--size n=10");
  cli_status status = choose_name(args, name);
  if (status != CLI_OK || !check_folder(path))
    return status != CLI_OK ? status : CLI_WRONG;
  ahead_request r = {.entry = cli_entry(args),
                     .name = name,
                     .target = target && !strcmp(target, "cuda") ? AHEAD_CUDA : AHEAD_C,
                     .types = cli_value(args, "--arguments")};
  return cli_with_program(args, build_library, &r);
}
