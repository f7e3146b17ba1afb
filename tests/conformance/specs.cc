#include "tests/conformance/specs.h"

#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "casement/v1/definition.grpc.pb.h"
#include "tests/conformance/definition.h"
#include "tests/support/rpc.h"

namespace casement::conformance {
namespace {

using support::Call;
using support::Describe;

class SpecRunner {
 public:
  SpecRunner(const Pipeline& pipeline, const std::string& stream_id,
             v1::DefinitionService::Stub& stub)
      : pipeline_(pipeline),
        names_(pipeline),
        stream_id_(stream_id),
        stub_(stub) {}

  // The first answer that refuses it; else that of the view.
  grpc::Status Run() {
    std::vector<std::string> source_ids;
    const size_t sources =
        pipeline_.sources.has_value() ? pipeline_.sources->size() : 0;
    for (size_t i = 0; i < sources; ++i) {
      source_ids.push_back(absl::StrCat("p", i + 1));
    }
    v1::Stream stream = MakeStream(pipeline_, names_, source_ids);
    grpc::Status status = Create(stream);
    if (status.error_code() == grpc::UNIMPLEMENTED) {
      // Not built yet: the view is still to be judged, over a plain stream.
      stream.clear_event_deduplication();
      stream.clear_invalid_event_policy();
      stream.clear_watermark_policy();
      stream.mutable_watermark_policy()
          ->mutable_bounded_delay()
          ->mutable_max_delay();
      status = Create(stream);
    }
    if (!status.ok()) return status;
    const grpc::Status answer = Validate();
    status = Delete();
    return status.ok() ? answer : status;
  }

 private:
  grpc::Status Create(const v1::Stream& stream) {
    v1::CreateStreamRequest request;
    request.set_stream_id(stream_id_);
    *request.mutable_stream() = stream;
    v1::Stream created;
    return Call(stub_, &v1::DefinitionService::Stub::CreateStream, request,
                &created);
  }

  grpc::Status Validate() {
    v1::CreateViewRequest request;
    request.set_parent(absl::StrCat("streams/", stream_id_));
    request.set_view_id("v");
    *request.mutable_view() = MakeView(pipeline_, names_);
    request.set_validate_only(true);
    v1::View view;
    return Call(stub_, &v1::DefinitionService::Stub::CreateView, request,
                &view);
  }

  grpc::Status Delete() {
    v1::DeleteStreamRequest request;
    request.set_name(absl::StrCat("streams/", stream_id_));
    google::protobuf::Empty response;
    return Call(stub_, &v1::DefinitionService::Stub::DeleteStream, request,
                &response);
  }

  const Pipeline& pipeline_;
  const ApiNames names_;
  const std::string stream_id_;
  v1::DefinitionService::Stub& stub_;
};

// True: taken; false: refused; no value: neither.
std::optional<bool> Verdict(const grpc::Status& status) {
  if (status.ok() || status.error_code() == grpc::UNIMPLEMENTED) return true;
  if (status.error_code() == grpc::INVALID_ARGUMENT) return false;
  return std::nullopt;
}

}  // namespace

std::vector<std::string> RunSpecs(const std::vector<Spec>& specs,
                                  const std::string& stream_id,
                                  support::ServerProcess& server) {
  std::vector<std::string> differences;
  auto stub = v1::DefinitionService::NewStub(server.NewChannel());
  for (const Spec& spec : specs) {
    const grpc::Status answer =
        SpecRunner(spec.pipeline, stream_id, *stub).Run();
    if (Verdict(answer) == spec.valid) continue;
    differences.push_back(absl::StrCat(
        "\"", spec.label, "\" is ", spec.valid ? "valid" : "invalid",
        ", and the answer is ", Describe(answer)));
  }
  return differences;
}

}  // namespace casement::conformance
