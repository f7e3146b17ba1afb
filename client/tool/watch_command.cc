#include <sys/ioctl.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "casement/v1/admin.grpc.pb.h"
#include "casement/v1/definition.grpc.pb.h"
#include "client/names.h"
#include "client/subscriber.h"
#include "client/tool/commands.h"
#include "client/tool/connection_note.h"
#include "client/tool/cursor_file.h"
#include "client/tool/durations.h"
#include "client/tool/finality_flag.h"
#include "client/tool/live_table.h"
#include "client/tool/row_writer.h"
#include "client/tool/rpc_call.h"

namespace casement::tool {
namespace {

ScreenSize TerminalSize() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) {
    return {};
  }
  return {size.ws_row, size.ws_col};
}

bool IsKnown(v1::Finality finality) {
  return v1::Finality_IsValid(finality) && finality != v1::FINALITY_UNSPECIFIED;
}

class Watcher {
 public:
  Watcher(Io& io, const WatchOptions& options) : io_(io), options_(options) {}

  int Run(const ServerOptions& server);

 private:
  std::optional<int> Start(const std::string& view_name,
                           client::SubscriberOptions* subscribe);
  std::optional<int> MakeOutput(bool resumed);
  // False: the end, for a good reason or for `status_`.
  bool Take(const v1::SubscribeResponse& response);
  bool TakeRows(const v1::SubscribeResponse& response);
  void Follow(const v1::SubscribeResponse& response);
  void PaintTable();
  void Say(const std::string& note);

  Io& io_;
  const WatchOptions& options_;
  std::shared_ptr<grpc::Channel> channel_;
  v1::View view_;
  std::unique_ptr<RowWriter> writer_;
  std::unique_ptr<LiveTable> table_;
  std::unique_ptr<v1::AdminService::Stub> admin_;
  absl::Time last_stats_ = absl::InfinitePast();
  std::unique_ptr<CursorFile> cursor_file_;
  int64_t rows_ = 0;
  ConnectionNote note_;
  bool ended_ = false;
  absl::Status status_;
};

std::optional<int> Watcher::MakeOutput(bool resumed) {
  const std::string format = !options_.format.empty() ? options_.format
                             : io_.out_is_terminal    ? "table"
                                                      : "jsonl";
  if (format == "table") {
    if (!io_.out_is_terminal) {
      return ReportUsage(io_,
                         "--format table is for a terminal; in a pipe take "
                         "jsonl or csv");
    }
    table_ = std::make_unique<LiveTable>(view_, io_.out);
    admin_ = v1::AdminService::NewStub(channel_);
  } else if (format == "csv") {
    // What goes on in an old file needs no second header.
    writer_ = NewCsvWriter(view_.spec(), io_.out, !resumed);
  } else {
    writer_ = NewJsonlWriter(view_.spec(), io_.out);
  }
  return std::nullopt;
}

std::optional<int> Watcher::Start(const std::string& view_name,
                                  client::SubscriberOptions* subscribe) {
  subscribe->view = view_name;
  subscribe->finalities = Finalities(options_.finality);
  const auto give_up_after = ParseDuration(options_.give_up_after);
  if (!give_up_after.ok()) {
    return ReportUsage(io_, give_up_after.status().message());
  }
  subscribe->give_up_after = absl::Seconds(give_up_after->seconds());
  if (options_.until_ended || io_.out_is_terminal) {
    // The end is told by a heartbeat if nothing else comes; and a table is
    // painted anew with each.
    subscribe->heartbeat_interval = absl::Milliseconds(500);
  }
  if (options_.from == "now") {
    subscribe->position = v1::POSITION_NOW;
  } else if (options_.from != "oldest") {
    absl::StatusOr<std::string> cursor = CursorFromText(options_.from);
    if (!cursor.ok()) {
      return ReportUsage(io_, absl::StrCat("--from takes oldest, now or a "
                                           "cursor: ",
                                           cursor.status().message()));
    }
    subscribe->cursor = *std::move(cursor);
  }
  if (options_.cursor_file.empty()) return std::nullopt;
  cursor_file_ = std::make_unique<CursorFile>(options_.cursor_file, view_name);
  absl::StatusOr<std::string> cursor = cursor_file_->Read();
  if (!cursor.ok()) return ReportError(io_, cursor.status());
  // The file says where the last run stopped; --from is for the first.
  if (!cursor->empty()) subscribe->cursor = *std::move(cursor);
  return std::nullopt;
}

bool Watcher::TakeRows(const v1::SubscribeResponse& response) {
  for (const v1::WindowResult& row : response.results().results()) {
    // Of a newer server; its cursor counts all the same.
    if (!IsKnown(row.finality())) continue;
    if (table_) table_->Apply(row);
    if (writer_) writer_->Write(row);
    ++rows_;
    const bool enough = options_.max_rows > 0 && rows_ >= options_.max_rows;
    // A cursor covers whole responses, so one that is kept goes with whole
    // ones.
    if (enough && cursor_file_ == nullptr) return false;
  }
  return options_.max_rows == 0 || rows_ < options_.max_rows;
}

void Watcher::Follow(const v1::SubscribeResponse& response) {
  // As far as was served, not where the view is: nothing is left to come.
  if (response.has_synced()) ended_ = response.synced().progress().ended();
  if (response.has_heartbeat()) {
    ended_ = response.heartbeat().progress().ended();
  }
}

void Watcher::PaintTable() {
  const absl::Time now = absl::Now();
  if (now - last_stats_ >= absl::Seconds(1) || ended_) {
    last_stats_ = now;
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(now + absl::Milliseconds(300)));
    v1::GetStatsRequest request;
    request.set_name(view_.name());
    v1::GetStatsResponse response;
    // If it does not come, the old numbers stand a little longer.
    if (admin_->GetStats(&context, request, &response).ok()) {
      table_->SetStats(response.stats());
    }
  }
  table_->Paint(TerminalSize(), /*force=*/ended_);
}

bool Watcher::Take(const v1::SubscribeResponse& response) {
  const bool more = TakeRows(response);
  Follow(response);
  if (table_) PaintTable();
  io_.out->flush();
  if (!io_.out->good()) {
    status_ = absl::UnknownError("can't write the output");
    return false;
  }
  if (cursor_file_) {
    status_ = cursor_file_->Write(response.cursor());
    if (!status_.ok()) return false;
  }
  return more && !(options_.until_ended && ended_);
}

void Watcher::Say(const std::string& note) {
  if (note.empty()) return;
  if (table_) {
    table_->SetNote(note);
    table_->Paint(TerminalSize(), /*force=*/true);
  } else {
    *io_.err << note << "\n";
    io_.err->flush();
  }
}

int Watcher::Run(const ServerOptions& server) {
  const absl::StatusOr<std::string> name = client::ViewName(options_.view);
  if (!name.ok()) return ReportUsage(io_, name.status().message());
  client::SubscriberOptions subscribe;
  if (const std::optional<int> code = Start(*name, &subscribe)) return *code;
  auto channel = Connect(server);
  if (!channel.ok()) return ReportError(io_, channel.status());
  channel_ = *std::move(channel);
  v1::GetViewRequest request;
  request.set_name(*name);
  absl::StatusOr<v1::View> view =
      Call(*v1::DefinitionService::NewStub(channel_),
           &v1::DefinitionService::Stub::GetView, request);
  if (!view.ok()) return ReportError(io_, view.status());
  view_ = *std::move(view);
  const std::optional<int> code = MakeOutput(!subscribe.cursor.empty());
  if (code) return *code;
  subscribe.on_connection = [this](const absl::Status& status) {
    Say(note_.For(status));
  };
  client::Subscriber subscriber(channel_, std::move(subscribe));
  const absl::Status status = subscriber.Run(
      [this](const v1::SubscribeResponse& response) { return Take(response); });
  if (table_) table_->Paint(TerminalSize(), /*force=*/true);
  if (!status_.ok()) return ReportError(io_, status_);
  return status.ok() ? kExitOk : ReportError(io_, status);
}

}  // namespace

int Watch(Io& io, const ServerOptions& server, const WatchOptions& options) {
  return Watcher(io, options).Run(server);
}

}  // namespace casement::tool
