#include "casement/v1/definition.grpc.pb.h"
#include "casement/v1/result.grpc.pb.h"
#include "client/names.h"
#include "client/tool/commands.h"
#include "client/tool/finality_flag.h"
#include "client/tool/row_writer.h"
#include "client/tool/rpc_call.h"
#include "client/tool/table.h"

namespace casement::tool {
namespace {

constexpr int kPageRows = 1000;

// Where pages go: a table, or lines.
class Sink {
 public:
  Sink(Io& io, const v1::ViewSpec& spec, const std::string& format)
      : io_(io), spec_(spec), table_(ResultColumns(spec)) {
    if (format == "csv") writer_ = NewCsvWriter(spec, io.out, true);
    if (format == "jsonl") writer_ = NewJsonlWriter(spec, io.out);
  }

  void Page(const v1::ListWindowsResponse& page) {
    for (const v1::WindowResult& row : page.windows()) {
      if (writer_) {
        writer_->Write(row);
      } else {
        table_.Add(ResultCells(spec_, row));
      }
    }
    if (!writer_) {
      table_.Print(*io_.out, first_);
      table_.Clear();
    }
    first_ = false;
  }

 private:
  Io& io_;
  const v1::ViewSpec spec_;
  Table table_;
  std::unique_ptr<RowWriter> writer_;
  bool first_ = true;
};

}  // namespace

int Windows(Io& io, const ServerOptions& server,
            const WindowsOptions& options) {
  const absl::StatusOr<std::string> name = client::ViewName(options.view);
  if (!name.ok()) return ReportUsage(io, name.status().message());
  v1::ListWindowsRequest request;
  for (const v1::Finality finality : Finalities(options.finality)) {
    request.add_finalities(finality);
  }
  const auto channel = Connect(server);
  if (!channel.ok()) return ReportError(io, channel.status());
  v1::GetViewRequest get;
  get.set_name(*name);
  const absl::StatusOr<v1::View> view =
      Call(*v1::DefinitionService::NewStub(*channel),
           &v1::DefinitionService::Stub::GetView, get);
  if (!view.ok()) return ReportError(io, view.status());
  const auto stub = v1::ResultService::NewStub(*channel);
  Sink sink(io, view->spec(), options.format);
  request.set_parent(*name);
  request.set_page_size(kPageRows);
  request.set_min_version(options.min_version);
  do {
    const absl::StatusOr<v1::ListWindowsResponse> page =
        Call(*stub, &v1::ResultService::Stub::ListWindows, request);
    if (!page.ok()) return ReportError(io, page.status());
    sink.Page(*page);
    if (!io.out->good()) {
      return ReportError(io, absl::UnknownError("can't write the output"));
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return kExitOk;
}

}  // namespace casement::tool
