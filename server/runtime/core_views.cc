// Requests about views.
#include <utility>

#include "server/engine/error.h"
#include "server/runtime/core.h"
#include "server/runtime/errors.h"
#include "server/runtime/log_reader.h"

namespace casement::runtime {
namespace {

// Answers with `value` if all went well.
template <typename T>
Task AnswerWith(Done<T> done, T value) {
  return [done = std::move(done),
          value = std::move(value)](const absl::Status& status) mutable {
    if (status.ok()) {
      done(std::move(value));
    } else {
      done(status);
    }
  };
}

// Answers with a refusal, unless something worse happened.
template <typename T>
Task Refuse(Done<T> done, absl::Status refusal) {
  return [done = std::move(done),
          refusal = std::move(refusal)](const absl::Status& status) {
    done(status.ok() ? refusal : status);
  };
}

}  // namespace

void Core::CreateView(const std::string& stream,
                      engine::ViewDefinition definition, bool validate_only,
                      Done<ViewInfo> done) {
  OnEngine(
      stream,
      [this, definition = std::move(definition), validate_only,
       done](const EntryPtr& entry) mutable {
        if (const auto view =
                entry->stream->FindView(absl::string_view(definition.id))) {
          const auto differences =
              engine::Differences(*view->definition, definition);
          if (differences.empty()) {
            WhenPublished(AnswerWith(done, InfoOf(*entry, *view)));
          } else {
            WhenPublished(
                Refuse(done, AlreadyExists(ViewName(entry->id(), definition.id),
                                           differences)));
          }
          return;
        }
        if (definition.create_time == 0) definition.create_time = CreateTime();
        engine::CreateViewRecord record{definition};
        const absl::Status admitted = entry->stream->Admit(record);
        if (!admitted.ok()) {
          WhenPublished(Refuse(done, admitted));
          return;
        }
        if (validate_only) {
          ViewInfo info;
          info.definition = std::move(definition);
          info.progress = entry->stream->progress();
          WhenPublished(AnswerWith(done, std::move(info)));
          return;
        }
        std::string payload;
        engine::Changes changes =
            FoldRecord(entry.get(), std::move(record), false, &payload);
        const auto made = entry->stream->FindView(*changes.created_view);
        CommitRecord(entry, std::move(payload), std::move(changes), true,
                     nullptr, AnswerWith(done, InfoOf(*entry, *made)));
      },
      done);
}

void Core::GetView(const std::string& stream, const std::string& view,
                   Done<ViewInfo> done) {
  OnEngine(
      stream,
      [this, view, done](const EntryPtr& entry) {
        const auto found = entry->stream->FindView(absl::string_view(view));
        if (found.has_value()) {
          WhenPublished(AnswerWith(done, InfoOf(*entry, *found)));
        } else {
          WhenPublished(Refuse(
              done, engine::NoSuchResource(ViewName(entry->id(), view))));
        }
      },
      done);
}

void Core::ListViews(const std::string& stream, const std::string& after,
                     int limit, Done<std::vector<ViewInfo>> done) {
  OnEngine(
      stream,
      [this, after, limit, done](const EntryPtr& entry) {
        std::vector<ViewInfo> infos;
        for (const auto& view : entry->stream->ListViews()) {
          if (infos.size() >= static_cast<size_t>(limit)) break;
          if (view.definition->id <= after) continue;
          infos.push_back(InfoOf(*entry, view));
        }
        WhenPublished(AnswerWith(done, std::move(infos)));
      },
      done);
}

void Core::DeleteView(const std::string& stream, const std::string& view,
                      DoneStatus done) {
  OnEngine(
      stream,
      [this, view, done](const EntryPtr& entry) {
        const auto found = entry->stream->FindView(absl::string_view(view));
        if (!found.has_value()) {
          WhenPublished(
              [done, refusal = engine::NoSuchResource(ViewName(
                         entry->id(), view))](const absl::Status& status) {
                done(status.ok() ? refusal : status);
              });
          return;
        }
        std::string payload;
        engine::Changes changes =
            FoldRecord(entry.get(), engine::DeleteViewRecord{found->number},
                       false, &payload);
        CommitRecord(entry, std::move(payload), std::move(changes), true,
                     nullptr, done);
      },
      done);
}

void Core::OpenLog(const std::string& stream, const std::string& view,
                   LogStart start, FinalityFilter filter,
                   Done<std::shared_ptr<LogReader>> done) {
  const EntryPtr entry = Find(stream);
  if (entry == nullptr) {
    done(engine::NoSuchResource(StreamName(stream)));
    return;
  }
  const absl::Status status =
      entry->broken.ok() ? entry->head->status() : entry->broken;
  if (!status.ok()) {
    done(status);
    return;
  }
  const auto published = entry->head->FindView(view);
  if (published == nullptr) {
    done(engine::NoSuchResource(ViewName(stream, view)));
    return;
  }
  const engine::Version head = entry->head->progress().version;
  LogPosition position;
  switch (start.kind) {
    case LogStart::Kind::kNow:
      position = LogPosition{head, kEndOfVersion};
      break;
    case LogStart::Kind::kOldest:
      position = LogPosition{0, -1};
      break;
    case LogStart::Kind::kAfter:
      position = start.after;
      break;
  }
  if (position.version < 0 || position.version > head || position.index < -1) {
    done(engine::MakeError(absl::StatusCode::kInvalidArgument,
                           engine::kCursorInvalid,
                           "the cursor is beyond the end of the view's results",
                           {{"cause", "beyond the end"}}));
    return;
  }
  LogIdentity identity{store_id_, entry->number, published->number};
  done(std::shared_ptr<LogReader>(std::make_shared<StoreLogReader>(
      std::move(identity), entry->head, published, entry->id(), position,
      filter, readers_, store_.get())));
}

}  // namespace casement::runtime
