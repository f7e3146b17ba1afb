// The command line: which words mean which command. What this is for: parsing,
// help and dispatch; what commands do is in commands.h.

#ifndef CASEMENT_CLIENT_TOOL_COMMAND_LINE_H_
#define CASEMENT_CLIENT_TOOL_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "client/tool/io.h"

namespace casement::tool {

// Runs one command; `args` without the program's name. Returns its exit code.
int RunCommandLine(const std::vector<std::string>& args, Io& io);

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_COMMAND_LINE_H_
