// Page tokens: where a listing goes on, bound to the request that began it. A
// token given with other arguments is INVALID_ARGUMENT (PAGE_TOKEN_MISMATCH);
// the page's size may change.
#ifndef CASEMENT_SERVER_RPC_PAGE_TOKEN_H_
#define CASEMENT_SERVER_RPC_PAGE_TOKEN_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/runtime/runtime.h"

namespace casement::rpc {

// `request` is whatever tells the request's other arguments, and the store.
std::string EncodePageToken(absl::string_view request,
                            absl::string_view position);
// The position; "" for the empty token.
absl::StatusOr<std::string> DecodePageToken(absl::string_view request,
                                            absl::string_view token);

// The position of a listing of windows, and the view whose windows they are, by
// the time it was made: a later view of the same name is another one.
struct WindowPlace {
  runtime::WindowListPosition after;
  engine::TimeUs view_create_time = 0;
};
std::string EncodeWindowPlace(const WindowPlace& place);
absl::StatusOr<WindowPlace> DecodeWindowPlace(absl::string_view bytes);

// Of a token that belongs to something else.
absl::Status PageTokenMismatch();

// The number of entries to give: the default for 0, the most for more.
// INVALID_ARGUMENT for a negative size.
absl::StatusOr<int> PageSize(int32_t asked, int default_size, int most);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_PAGE_TOKEN_H_
