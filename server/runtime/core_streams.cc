// Requests about streams.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/engine/error.h"
#include "server/runtime/core.h"
#include "server/runtime/errors.h"
#include "spdlog/spdlog.h"

namespace casement::runtime {

absl::Status AlreadyExists(const std::string& name,
                           const std::vector<std::string>& differences) {
  engine::ErrorDetail detail;
  detail.reason = engine::kResourceExists;
  detail.resource = name;
  for (const std::string& field : differences) {
    if (detail.violations.size() == engine::kMaxFieldViolations) break;
    detail.violations.push_back({field, "differs from the existing one", ""});
  }
  return engine::MakeError(
      absl::StatusCode::kAlreadyExists,
      absl::StrCat(name, " exists with another definition; it differs in ",
                   absl::StrJoin(differences, ", ")),
      detail);
}

void Core::CreateStream(engine::StreamDefinition definition, bool validate_only,
                        Done<StreamInfo> done) {
  if (!engine::IsValidId(definition.id)) {
    done(engine::InvalidField("stream_id",
                              "must be [a-z][a-z0-9-]{0,61}[a-z0-9], or one "
                              "letter"));
    return;
  }
  const absl::Status valid = engine::ValidateStream(definition.spec);
  if (!valid.ok()) {
    done(valid);
    return;
  }
  publisher_->Post([this, definition = std::move(definition), validate_only,
                    done =
                        std::move(done)](const absl::Status& status) mutable {
    if (!status.ok()) {
      done(status);
    } else {
      CreateOnPublisher(std::move(definition), validate_only, std::move(done));
    }
  });
}

void Core::CreateOnPublisher(engine::StreamDefinition definition,
                             bool validate_only, Done<StreamInfo> done) {
  if (const EntryPtr existing = Find(definition.id)) {
    const auto differences =
        engine::Differences(*existing->definition, definition);
    if (!differences.empty()) {
      done(AlreadyExists(StreamName(definition.id), differences));
    } else {
      // It may be about to be deleted: then its place is free once that is
      // known.
      const std::string id = definition.id;
      GetStream(id, [this, definition = std::move(definition), validate_only,
                     done](absl::StatusOr<StreamInfo> info) {
        if (absl::IsNotFound(info.status())) {
          CreateStream(definition, validate_only, done);
        } else {
          done(std::move(info));
        }
      });
    }
    return;
  }
  size_t count = 0;
  {
    std::lock_guard<std::mutex> lock(streams_mutex_);
    count = streams_.size();
  }
  if (count >= kMaxStreams) {
    done(engine::MakeError(
        absl::StatusCode::kResourceExhausted, engine::kQuota,
        absl::StrCat("there are ", count, " streams; delete one first"),
        {{"limit", absl::StrCat(kMaxStreams)}, {"used", absl::StrCat(count)}}));
    return;
  }
  if (definition.create_time == 0) definition.create_time = CreateTime();
  if (validate_only) {
    StreamInfo info;
    info.definition = std::move(definition);
    done(std::move(info));
    return;
  }
  const auto number =
      store_->CreateStream(engine::EncodeDefinition(definition));
  if (!number.ok()) {
    Fail(number.status());
    done(FromStore(number.status()));
    return;
  }
  auto entry = std::make_shared<StreamEntry>();
  entry->number = *number;
  entry->definition =
      std::make_shared<const engine::StreamDefinition>(std::move(definition));
  entry->thread = engines_[entry->number % engines_.size()].get();
  entry->stream = std::make_unique<engine::Stream>(entry->definition->spec);
  entry->head = std::make_shared<StreamHead>(entry->stream->progress());
  StreamInfo info = InfoOf(*entry);
  {
    std::lock_guard<std::mutex> lock(streams_mutex_);
    streams_[entry->id()] = entry;
  }
  done(std::move(info));
}

void Core::GetStream(const std::string& stream, Done<StreamInfo> done) {
  OnEngine(
      stream,
      [this, done](const EntryPtr& entry) {
        WhenDurable([done, info = InfoOf(*entry)](const absl::Status& status) {
          if (status.ok()) {
            done(info);
          } else {
            done(status);
          }
        });
      },
      done);
}

namespace {

// Collects the answers of many streams.
struct StreamListing {
  std::mutex mutex;
  std::vector<std::optional<StreamInfo>> infos;
  size_t left = 0;
  absl::Status status;
  Done<std::vector<StreamInfo>> done;

  void Put(size_t index, const absl::Status& result,
           std::optional<StreamInfo> info) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      infos[index] = std::move(info);
      if (status.ok()) status = result;
      if (--left > 0) return;
    }
    if (!status.ok()) {
      done(status);
      return;
    }
    std::vector<StreamInfo> all;
    for (std::optional<StreamInfo>& each : infos) {
      if (each.has_value()) all.push_back(*std::move(each));
    }
    done(std::move(all));
  }
};

}  // namespace

void Core::ListStreams(const std::string& after, int limit,
                       Done<std::vector<StreamInfo>> done) {
  std::vector<EntryPtr> entries;
  {
    std::lock_guard<std::mutex> lock(streams_mutex_);
    for (auto it = streams_.upper_bound(after);
         it != streams_.end() && entries.size() < static_cast<size_t>(limit);
         ++it) {
      entries.push_back(it->second);
    }
  }
  if (entries.empty()) {
    done(std::vector<StreamInfo>());
    return;
  }
  auto listing = std::make_shared<StreamListing>();
  listing->infos.resize(entries.size());
  listing->left = entries.size();
  listing->done = std::move(done);
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i]->thread->Post(
        [this, listing, i, entry = entries[i]](const absl::Status& status) {
          if (!status.ok()) {
            listing->Put(i, status, std::nullopt);
            return;
          }
          std::optional<StreamInfo> info;
          if (!entry->deleted) info = InfoOf(*entry);
          WhenDurable([listing, i, info](const absl::Status& durable) {
            listing->Put(i, durable, info);
          });
        });
  }
}

void Core::EndStream(const std::string& stream, Done<StreamInfo> done) {
  OnEngine(
      stream,
      [this, done](const EntryPtr& entry) {
        if (entry->stream->ended()) {
          WhenDurable(
              [done, info = InfoOf(*entry)](const absl::Status& status) {
                if (status.ok()) {
                  done(info);
                } else {
                  done(status);
                }
              });
          return;
        }
        std::string payload;
        engine::Changes changes =
            FoldRecord(entry.get(), engine::EndStreamRecord(), false, &payload);
        CommitRecord(
            entry, std::move(payload), std::move(changes), true,
            [done, info = InfoOf(*entry)](const absl::Status& status) {
              if (status.ok()) {
                done(info);
              } else {
                done(status);
              }
            },
            nullptr);
      },
      done);
}

void Core::DeleteStream(const std::string& stream, bool force,
                        DoneStatus done) {
  const EntryPtr found = Find(stream);
  if (found == nullptr) {
    done(engine::NoSuchResource(StreamName(stream)));
    return;
  }
  // Not by OnEngine: a broken stream can be deleted too.
  found->thread->Post([this, entry = found, force,
                       done = std::move(done)](const absl::Status& status) {
    if (!status.ok()) {
      done(status);
      return;
    }
    const std::string name = StreamName(entry->id());
    absl::Status refusal;
    if (entry->deleted) {
      refusal = engine::NoSuchResource(name);
    } else if (!force && entry->stream != nullptr &&
               !entry->stream->ListViews().empty()) {
      engine::ErrorDetail detail;
      detail.reason = engine::kHasViews;
      detail.resource = name;
      refusal = engine::MakeError(
          absl::StatusCode::kFailedPrecondition,
          absl::StrCat(name, " has views; delete them, or delete with force"),
          detail);
    }
    if (!refusal.ok()) {
      WhenPublished([done, refusal](const absl::Status& published) {
        done(published.ok() ? refusal : published);
      });
      return;
    }
    entry->deleted = true;
    state_bytes_ -= entry->counted_bytes;
    entry->counted_bytes = 0;
    WhenPublished([this, entry, done, last = committer_->last_pushed()](
                      const absl::Status& published) {
      absl::Status result = published;
      if (result.ok()) {
        result = store_->DeleteStream(entry->number, last);
        if (!result.ok()) Fail(result);
      }
      if (!result.ok()) {
        done(FromStore(result));
        return;
      }
      entry->gone = true;
      {
        std::lock_guard<std::mutex> lock(streams_mutex_);
        streams_.erase(entry->id());
      }
      entry->head->End(engine::NoSuchResource(StreamName(entry->id())));
      entry->thread->Post(
          [entry](const absl::Status&) { entry->stream.reset(); });
      spdlog::info("deleted {}", StreamName(entry->id()));
      done(absl::OkStatus());
    });
  });
}

}  // namespace casement::runtime
