// Resource names. What this is for: people write "flights" and
// "flights/hourly", the API "streams/flights" and
// "streams/flights/views/hourly". Both are taken wherever a name is asked for.

#ifndef CASEMENT_CLIENT_NAMES_H_
#define CASEMENT_CLIENT_NAMES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace casement::client {

// "flights" or "streams/flights" -> "streams/flights". The server checks the
// id itself.
absl::StatusOr<std::string> StreamName(absl::string_view text);

// "flights/hourly" or the full name -> "streams/flights/views/hourly".
absl::StatusOr<std::string> ViewName(absl::string_view text);

// "streams/flights", "p1" -> "streams/flights/producers/p1".
std::string ProducerName(absl::string_view stream_name, absl::string_view id);

// The part after the last slash.
std::string LastPart(absl::string_view name);

// "streams/flights/views/hourly" -> "streams/flights".
std::string StreamOfView(absl::string_view view_name);

// The short form, as people write it: "flights/hourly".
std::string ShortName(absl::string_view name);

}  // namespace casement::client

#endif  // CASEMENT_CLIENT_NAMES_H_
