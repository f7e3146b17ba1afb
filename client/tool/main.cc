// The command line `casement`.

#include <malloc.h>
#include <unistd.h>

#include <iostream>

#include "client/tool/command_line.h"

int main(int argc, char** argv) {
  // Batches are large and short-lived; with the defaults each would be mapped
  // and unmapped, and the page faults cost more than the rest.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
  std::ios::sync_with_stdio(false);
  casement::tool::Io io;
  io.out = &std::cout;
  io.err = &std::cerr;
  io.in_fd = STDIN_FILENO;
  io.out_is_terminal = isatty(STDOUT_FILENO) != 0;
  io.err_is_terminal = isatty(STDERR_FILENO) != 0;
  return casement::tool::RunCommandLine({argv + 1, argv + argc}, io);
}
