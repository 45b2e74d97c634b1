// The permc program: everything is in cli_main.c and its kin.
#include "runtime/cli.h"

int main(int argc, char **argv) { return cli_main(argc, argv); }
