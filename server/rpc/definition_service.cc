#include "server/rpc/definition_service.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/rpc/names.h"
#include "server/rpc/page_token.h"
#include "server/rpc/stream_conversion.h"
#include "server/rpc/time_conversion.h"
#include "server/rpc/unary_call.h"
#include "server/rpc/view_conversion.h"

namespace casement::rpc {
namespace {

using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;
using runtime::Runtime;
using runtime::StreamInfo;
using runtime::ViewInfo;

constexpr int kDefaultPage = 50;
constexpr int kMostInPage = 1000;

// Where a page of a listing by id begins, and how long it is.
struct Page {
  std::string request;  // what the token is bound to
  std::string after;
  int size = 0;
};

absl::StatusOr<Page> ToPage(std::string request, const std::string& token,
                            int32_t asked) {
  Page page;
  page.request = std::move(request);
  const absl::StatusOr<int> size = PageSize(asked, kDefaultPage, kMostInPage);
  if (!size.ok()) return size.status();
  page.size = *size;
  absl::StatusOr<std::string> after = DecodePageToken(page.request, token);
  if (!after.ok()) return after.status();
  page.after = *std::move(after);
  return page;
}

// Cuts what was read, one more than the page holds, to the page; the token is
// empty if that was all.
template <typename Info>
std::string CutToPage(const Page& page, std::vector<Info>* infos) {
  if (infos->size() <= static_cast<size_t>(page.size)) return "";
  infos->resize(page.size);
  return EncodePageToken(page.request, infos->back().definition.id);
}

}  // namespace

ServerUnaryReactor* DefinitionService::CreateStream(
    CallbackServerContext* context, const v1::CreateStreamRequest* request,
    v1::Stream* response) {
  UnaryCall call(context, &services_->calls());
  const absl::StatusOr<Runtime*> runtime = services_->Enter();
  if (!runtime.ok()) return call.Fail(runtime.status());
  absl::StatusOr<engine::StreamDefinition> definition =
      ToStreamDefinition(*request);
  if (!definition.ok()) return call.Fail(definition.status());
  definition->create_time = WallClockUs();
  (*runtime)->CreateStream(
      *std::move(definition), request->validate_only(),
      call.Answer<StreamInfo>(
          [response](const StreamInfo& info) { SetStream(info, response); }));
  return call.reactor();
}

ServerUnaryReactor* DefinitionService::GetStream(
    CallbackServerContext* context, const v1::GetStreamRequest* request,
    v1::Stream* response) {
  UnaryCall call(context, &services_->calls());
  const absl::StatusOr<Runtime*> runtime = services_->Enter();
  if (!runtime.ok()) return call.Fail(runtime.status());
  absl::StatusOr<std::string> name = ParseStreamName("name", request->name());
  if (!name.ok()) return call.Fail(name.status());
  (*runtime)->GetStream(
      *std::move(name),
      call.Answer<StreamInfo>(
          [response](const StreamInfo& info) { SetStream(info, response); }));
  return call.reactor();
}

ServerUnaryReactor* DefinitionService::ListStreams(
    CallbackServerContext* context, const v1::ListStreamsRequest* request,
    v1::ListStreamsResponse* response) {
  UnaryCall call(context, &services_->calls());
  const absl::StatusOr<Runtime*> runtime = services_->Enter();
  if (!runtime.ok()) return call.Fail(runtime.status());
  const absl::StatusOr<Page> page =
      ToPage(absl::StrCat("ListStreams ", (*runtime)->store_id()),
             request->page_token(), request->page_size());
  if (!page.ok()) return call.Fail(page.status());
  (*runtime)->ListStreams(
      page->after, page->size + 1,
      call.Answer<std::vector<StreamInfo>>(
          [page = *page, response](std::vector<StreamInfo>& infos) {
            response->set_next_page_token(CutToPage(page, &infos));
            for (const StreamInfo& info : infos) {
              SetStream(info, response->add_streams());
            }
          }));
  return call.reactor();
}

ServerUnaryReactor* DefinitionService::EndStream(
    CallbackServerContext* context, const v1::EndStreamRequest* request,
    v1::Stream* response) {
  UnaryCall call(context, &services_->calls());
  const absl::StatusOr<Runtime*> runtime = services_->Enter();
  if (!runtime.ok()) return call.Fail(runtime.status());
  absl::StatusOr<std::string> name = ParseStreamName("name", request->name());
  if (!name.ok()) return call.Fail(name.status());
  (*runtime)->EndStream(
      *std::move(name),
      call.Answer<StreamInfo>(
          [response](const StreamInfo& info) { SetStream(info, response); }));
  return call.reactor();
}

ServerUnaryReactor* DefinitionService::DeleteStream(
    CallbackServerContext* context, const v1::DeleteStreamRequest* request,
    google::protobuf::Empty* /*response*/) {
  UnaryCall call(context, &services_->calls());
  const absl::StatusOr<Runtime*> runtime = services_->Enter();
  if (!runtime.ok()) return call.Fail(runtime.status());
  absl::StatusOr<std::string> name = ParseStreamName("name", request->name());
  if (!name.ok()) return call.Fail(name.status());
  (*runtime)->DeleteStream(*std::move(name), request->force(),
                           call.AnswerStatus());
  return call.reactor();
}

ServerUnaryReactor* DefinitionService::CreateView(
    CallbackServerContext* context, const v1::CreateViewRequest* request,
    v1::View* response) {
  UnaryCall call(context, &services_->calls());
  const absl::StatusOr<Runtime*> runtime = services_->Enter();
  if (!runtime.ok()) return call.Fail(runtime.status());
  absl::StatusOr<std::string> stream =
      ParseStreamName("parent", request->parent());
  if (!stream.ok()) return call.Fail(stream.status());
  const absl::StatusOr<std::shared_ptr<const engine::StreamSpec>> spec =
      (*runtime)->FindStreamSpec(*stream);
  if (!spec.ok()) return call.Fail(spec.status());
  absl::StatusOr<engine::ViewDefinition> definition =
      ToViewDefinition(*request, **spec);
  if (!definition.ok()) return call.Fail(definition.status());
  definition->create_time = WallClockUs();
  (*runtime)->CreateView(
      *stream, *std::move(definition), request->validate_only(),
      call.Answer<ViewInfo>([stream = *stream, response](const ViewInfo& info) {
        SetView(stream, info, response);
      }));
  return call.reactor();
}

ServerUnaryReactor* DefinitionService::GetView(
    CallbackServerContext* context, const v1::GetViewRequest* request,
    v1::View* response) {
  UnaryCall call(context, &services_->calls());
  const absl::StatusOr<Runtime*> runtime = services_->Enter();
  if (!runtime.ok()) return call.Fail(runtime.status());
  const absl::StatusOr<ChildName> name = ParseViewName("name", request->name());
  if (!name.ok()) return call.Fail(name.status());
  (*runtime)->GetView(name->stream, name->id,
                      call.Answer<ViewInfo>([stream = name->stream,
                                             response](const ViewInfo& info) {
                        SetView(stream, info, response);
                      }));
  return call.reactor();
}

ServerUnaryReactor* DefinitionService::ListViews(
    CallbackServerContext* context, const v1::ListViewsRequest* request,
    v1::ListViewsResponse* response) {
  UnaryCall call(context, &services_->calls());
  const absl::StatusOr<Runtime*> runtime = services_->Enter();
  if (!runtime.ok()) return call.Fail(runtime.status());
  absl::StatusOr<std::string> stream =
      ParseStreamName("parent", request->parent());
  if (!stream.ok()) return call.Fail(stream.status());
  const absl::StatusOr<Page> page =
      ToPage(absl::StrCat("ListViews ", (*runtime)->store_id(), " ", *stream),
             request->page_token(), request->page_size());
  if (!page.ok()) return call.Fail(page.status());
  (*runtime)->ListViews(
      *stream, page->after, page->size + 1,
      call.Answer<std::vector<ViewInfo>>(
          [page = *page, stream = *stream,
           response](std::vector<ViewInfo>& infos) {
            response->set_next_page_token(CutToPage(page, &infos));
            for (const ViewInfo& info : infos) {
              SetView(stream, info, response->add_views());
            }
          }));
  return call.reactor();
}

ServerUnaryReactor* DefinitionService::DeleteView(
    CallbackServerContext* context, const v1::DeleteViewRequest* request,
    google::protobuf::Empty* /*response*/) {
  UnaryCall call(context, &services_->calls());
  const absl::StatusOr<Runtime*> runtime = services_->Enter();
  if (!runtime.ok()) return call.Fail(runtime.status());
  const absl::StatusOr<ChildName> name = ParseViewName("name", request->name());
  if (!name.ok()) return call.Fail(name.status());
  (*runtime)->DeleteView(name->stream, name->id, call.AnswerStatus());
  return call.reactor();
}

}  // namespace casement::rpc
