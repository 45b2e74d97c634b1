// The permc program: everything is in tool/cli.c and its kin.
#include "tool/cli.h"

int main(int argc, char **argv) { return cli_main(argc, argv); }
