#include "server/rpc/list_windows_call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/engine/error.h"
#include "server/rpc/names.h"
#include "server/rpc/page_token.h"
#include "server/rpc/result_conversion.h"
#include "server/rpc/status_conversion.h"
#include "server/rpc/time_conversion.h"

namespace casement::rpc {
namespace {

constexpr int kDefaultPage = 100;
constexpr int kMostInPage = 10'000;
// A page ends at 1 MiB; a stored window is smaller than its proto.
constexpr size_t kPageBytes = 256 << 10;
constexpr int64_t kWaitSeconds = 30;

// Default: final rows. A RETRACTED row is gone, so none can be asked for.
absl::StatusOr<runtime::FinalityFilter> ToListFilter(
    const v1::ListWindowsRequest& request) {
  absl::StatusOr<runtime::FinalityFilter> filter =
      ToFinalityFilter(request.finalities());
  if (!filter.ok()) return filter;
  if (filter->allowed[v1::FINALITY_RETRACTED]) {
    return engine::InvalidField("finalities", "retracted rows are gone");
  }
  if (filter->all) {
    filter->all = false;
    filter->allowed[v1::FINALITY_FINAL] = true;
    filter->allowed[v1::FINALITY_CORRECTED] = true;
  }
  return filter;
}

std::string IdentifyRequest(const std::string& store_id,
                            const runtime::FinalityFilter& filter,
                            const v1::ListWindowsRequest& request) {
  std::string id = absl::StrCat("ListWindows ", store_id, " ", request.parent(),
                                " ", request.min_version(), " ");
  for (bool allowed : filter.allowed) absl::StrAppend(&id, allowed ? 1 : 0);
  return id;
}

}  // namespace

ListWindowsCall* ListWindowsCall::Start(ServiceContext* services,
                                        grpc::CallbackServerContext* context,
                                        const v1::ListWindowsRequest& request,
                                        v1::ListWindowsResponse* response) {
  std::shared_ptr<ListWindowsCall> call(new ListWindowsCall(context, response));
  call->self_ = call;
  if (absl::Status status = call->Open(services, request); !status.ok()) {
    call->FinishOnce(status);
  }
  return call.get();
}

absl::Status ListWindowsCall::Open(ServiceContext* services,
                                   const v1::ListWindowsRequest& request) {
  const absl::StatusOr<runtime::Runtime*> runtime = services->Enter();
  if (!runtime.ok()) return runtime.status();
  const absl::StatusOr<ChildName> name =
      ParseViewName("parent", request.parent());
  if (!name.ok()) return name.status();
  view_ = request.parent();
  const absl::StatusOr<runtime::FinalityFilter> filter = ToListFilter(request);
  if (!filter.ok()) return filter.status();
  filter_ = *filter;
  if (request.min_version() < 0) {
    return engine::InvalidField("min_version", "must not be negative");
  }
  runtime::ListWindowsQuery query;
  const absl::StatusOr<int> size =
      PageSize(request.page_size(), kDefaultPage, kMostInPage);
  if (!size.ok()) return size.status();
  query.max_results = *size;
  query.max_bytes = kPageBytes;
  query.final_rows = filter_.allowed[v1::FINALITY_FINAL] ||
                     filter_.allowed[v1::FINALITY_CORRECTED];
  query.open_windows = filter_.allowed[v1::FINALITY_PROVISIONAL];
  query.min_version = request.min_version();
  request_id_ = IdentifyRequest((*runtime)->store_id(), filter_, request);
  const absl::StatusOr<std::string> token =
      DecodePageToken(request_id_, request.page_token());
  if (!token.ok()) return token.status();
  if (!request.page_token().empty()) {
    absl::StatusOr<WindowPlace> place = DecodeWindowPlace(*token);
    if (!place.ok()) return place.status();
    has_token_ = true;
    view_create_time_ = place->view_create_time;
    query.after = std::move(place->after);
  }
  registration_ = services->calls().Add(shared_from_this());
  if (query.min_version > 0) SetAlarm();
  (*runtime)->ListWindows(
      name->stream, name->id, std::move(query),
      [weak = weak_from_this()] {
        const std::shared_ptr<ListWindowsCall> self = weak.lock();
        return self == nullptr || self->finished();
      },
      [self = shared_from_this()](
          const absl::StatusOr<runtime::WindowPage>& page) {
        self->OnPage(page);
      });
  return absl::OkStatus();
}

void ListWindowsCall::SetAlarm() {
  // A deadline of the client's ends the call by itself.
  const gpr_timespec deadline = context_->raw_deadline();
  if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) != 0) return;
  std::lock_guard lock(mutex_);
  if (finished_) return;
  alarm_ = std::make_unique<grpc::Alarm>();
  alarm_->Set(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                           gpr_time_from_seconds(kWaitSeconds, GPR_TIMESPAN)),
              [weak = weak_from_this()](bool fired) {
                if (!fired) return;
                if (const auto self = weak.lock()) {
                  self->FinishOnce(absl::DeadlineExceededError(
                      "min_version was not reflected within 30 s"));
                }
              });
}

void ListWindowsCall::OnPage(const absl::StatusOr<runtime::WindowPage>& page) {
  std::lock_guard lock(mutex_);
  if (finished_) return;  // the response is no longer ours
  absl::Status status = page.status();
  if (page.ok()) status = Fill(*page);
  finished_ = true;
  alarm_.reset();
  rpc::Finish(context_, this, status);
}

absl::Status ListWindowsCall::Fill(const runtime::WindowPage& page) {
  if (has_token_ && page.view.create_time != view_create_time_) {
    return PageTokenMismatch();
  }
  for (const engine::Result& result : page.results) {
    if (!filter_.allowed[static_cast<int>(result.finality)]) continue;
    if (absl::Status status =
            SetWindowResult(view_, result, response_->add_windows());
        !status.ok()) {
      return status;
    }
  }
  if (page.next.has_value()) {
    response_->set_next_page_token(EncodePageToken(
        request_id_, EncodeWindowPlace({*page.next, page.view.create_time})));
  }
  SetProgress(page.progress, page.view.spec.allowed_lateness_us,
              response_->mutable_progress());
  return absl::OkStatus();
}

void ListWindowsCall::OnCancel() {
  FinishOnce(absl::CancelledError("the call was cancelled"));
}

void ListWindowsCall::Drain() { FinishOnce(DrainingError()); }

void ListWindowsCall::OnDone() {
  // The runtime may hold the call longer than the server is there.
  const std::shared_ptr<ListWindowsCall> self = std::move(self_);
  registration_ = CallRegistry::Registration();
}

void ListWindowsCall::FinishOnce(const absl::Status& status) {
  std::lock_guard lock(mutex_);
  if (finished_) return;
  finished_ = true;
  alarm_.reset();
  rpc::Finish(context_, this, status);
}

bool ListWindowsCall::finished() const {
  std::lock_guard lock(mutex_);
  return finished_;
}

}  // namespace casement::rpc
