// The limits of control groups, read from files that are made here.
#include "tests/test.h"

#include "runtime/system/memory.h"

#include <sys/stat.h>

static char root[1024];

// Starts with an empty root of another name.
static void new_root(void) {
  static int number;
  const char *folder = getenv("PERMC_TMP");
  snprintf(root, sizeof root, "%s/root%d", folder ? folder : "/tmp", number++);
}

static void write_file(const char *path, const char *content) {
  char full[2048];
  snprintf(full, sizeof full, "%s%s", root, path);
  for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(full, 0700);
    *slash = '/';
  }
  FILE *f = fopen(full, "w");
  CHECK(f && fputs(content, f) >= 0 && fclose(f) == 0);
}

TEST(no_group) {
  new_root();
  CHECK_EQ_U64(memory_group_room(root), UINT64_MAX);
}

TEST(version_2) {
  new_root();
  write_file("/proc/self/cgroup", "0::/a/b\n");
  write_file("/sys/fs/cgroup/a/b/memory.max", "max\n");
  CHECK_EQ_U64(memory_group_room(root), UINT64_MAX);
  write_file("/sys/fs/cgroup/a/b/memory.max", "1000\n");
  CHECK_EQ_U64(memory_group_room(root), 1000);
  write_file("/sys/fs/cgroup/a/b/memory.current", "700\n");
  CHECK_EQ_U64(memory_group_room(root), 300);
  write_file("/sys/fs/cgroup/a/b/memory.stat", "anon 400\nactive_file 50\ninactive_file 250\n");
  CHECK_EQ_U64(memory_group_room(root), 600);
  write_file("/sys/fs/cgroup/a/b/memory.high", "500\n");
  CHECK_EQ_U64(memory_group_room(root), 100);
  write_file("/sys/fs/cgroup/a/memory.max", "90\n");
  CHECK_EQ_U64(memory_group_room(root), 90);
  write_file("/sys/fs/cgroup/a/memory.current", "91\n");
  CHECK_EQ_U64(memory_group_room(root), 0);
}

TEST(version_1) {
  new_root();
  write_file("/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/x/y\n0::/\n");
  write_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write_file("/sys/fs/cgroup/memory/x/y/memory.limit_in_bytes", "1000\n");
  write_file("/sys/fs/cgroup/memory/x/y/memory.usage_in_bytes", "800\n");
  write_file("/sys/fs/cgroup/memory/x/y/memory.stat",
             "active_file 7\ntotal_inactive_file 100\ntotal_active_file 100\n");
  CHECK_EQ_U64(memory_group_room(root), 400);
  write_file("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "300\n");
  CHECK_EQ_U64(memory_group_room(root), 300);
}

// The path is the host's, and the files are those of the container.
TEST(inside_a_container) {
  new_root();
  write_file("/proc/self/cgroup", "4:memory:/docker/0123\n0::/docker/0123\n");
  write_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1000\n");
  write_file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "10\n");
  CHECK_EQ_U64(memory_group_room(root), 990);
  write_file("/sys/fs/cgroup/memory.max", "500\n");
  CHECK_EQ_U64(memory_group_room(root), 500);
}

TEST(process) {
  char why[MEMORY_WHY];
  CHECK(memory_suffices(1000, 0, why));
  CHECK(!memory_suffices(0x1p62, 0, why));
  CHECK_CONTAINS(why, "4 EiB of memory; this ");
}

TEST_MAIN()
