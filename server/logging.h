// The server's log: one line an event, on stderr, as text or JSON.
#ifndef CASEMENT_SERVER_LOGGING_H_
#define CASEMENT_SERVER_LOGGING_H_

#include <string>

namespace casement {

// `level` and `format` as --log_level and --log_format have them. gRPC's own
// messages go to the same place.
void StartLogging(const std::string& level, const std::string& format);

// `text` as it stands between the quotes of a JSON string.
std::string EscapeJson(const std::string& text);

}  // namespace casement

#endif  // CASEMENT_SERVER_LOGGING_H_
