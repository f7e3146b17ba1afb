#include "state/journal.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "state/database.h"
#include "state/log_check.h"
#include "state/marker.h"
#include "state/status_macros.h"

namespace casement::state {
namespace {

// Beyond the segment's size: what one Append may add to a full segment.
constexpr size_t kBufferSlack = 32 << 20;

// How much of the segments that were checked is kept in memory for the replay.
constexpr size_t kMaxKeptOpen = 4;

bool ParseSegmentName(const std::string& name, uint32_t* number,
                      RecordNumber* first) {
  return name.size() == 31 && name[10] == '-' &&
         absl::SimpleAtoi(name.substr(0, 10), number) &&
         absl::SimpleAtoi(name.substr(11), first);
}

}  // namespace

Journal::Journal(std::string dir, std::string store_id,
                 const JournalOptions& options)
    : dir_(std::move(dir)), store_id_(std::move(store_id)), options_(options) {
  if (options_.env == nullptr) options_.env = leveldb::Env::Default();
}

Journal::~Journal() = default;

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(
    std::string dir, std::string store_id, RecordNumber cut,
    const JournalOptions& options) {
  std::unique_ptr<Journal> journal(
      new Journal(std::move(dir), std::move(store_id), options));
  RETURN_IF_ERROR(journal->ListSegments());
  RecordNumber last = cut;
  for (size_t i = 0; i < journal->segments_.size(); ++i) {
    Segment& segment = journal->segments_[i];
    if (i == 0 ? segment.first > cut + 1 : segment.first != last + 1) {
      return absl::DataLossError(
          absl::StrCat(i == 0 ? journal->dir_ : journal->segments_[i - 1].path,
                       ": journal records ", last + 1, " to ",
                       segment.first - 1, " are missing"));
    }
    RETURN_IF_ERROR(journal->CheckSegment(&segment, i < kMaxKeptOpen));
    last = segment.last;
  }
  if (last < cut) {
    return absl::DataLossError(absl::StrCat(
        journal->segments_.back().path, ": the journal ends at record ", last,
        ", before record ", cut, " that a checkpoint holds"));
  }
  journal->last_ = last;
  return journal;
}

absl::Status Journal::ListSegments() {
  std::vector<std::string> names;
  const leveldb::Status status = options_.env->GetChildren(dir_, &names);
  if (!status.ok()) {
    return absl::DataLossError(
        absl::StrCat("cannot read ", dir_, ": ", status.ToString()));
  }
  for (const std::string& name : names) {
    Segment segment;
    if (!ParseSegmentName(name, &segment.number, &segment.first)) continue;
    segment.path = absl::StrCat(dir_, "/", name);
    next_number_ = std::max(next_number_, segment.number + 1);
    segments_.push_back(std::move(segment));
  }
  std::sort(
      segments_.begin(), segments_.end(),
      [](const Segment& a, const Segment& b) { return a.number < b.number; });
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Database>> Journal::OpenForReading(
    const Segment& segment) const {
  DatabaseOptions options;
  options.env = options_.env;
  return Database::OpenReadOnly(segment.path, options);
}

absl::Status Journal::CheckSegment(Segment* segment, bool keep_open) const {
  RETURN_IF_ERROR(CheckLogEnds(options_.env, segment->path));
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                   OpenForReading(*segment));
  const auto iterator = database->NewIterator();
  iterator->SeekToFirst();
  if (!iterator->Valid() || ToView(iterator->key()) != JournalKey(0)) {
    RETURN_IF_ERROR(database->Check(iterator->status()));
    return absl::DataLossError(
        absl::StrCat(segment->path, ": the segment has lost its first entry"));
  }
  if (ToView(iterator->value()) != store_id_) {
    return absl::DataLossError(
        absl::StrCat(segment->path, " belongs to another store"));
  }
  segment->last = segment->first - 1;
  for (iterator->Next(); iterator->Valid(); iterator->Next()) {
    const auto number = ParseJournalKey(ToView(iterator->key()));
    if (number != segment->last + 1) {
      return absl::DataLossError(absl::StrCat(
          segment->path, ": record ", segment->last + 1, " is missing"));
    }
    segment->last = *number;
  }
  RETURN_IF_ERROR(database->Check(iterator->status()));
  if (keep_open) segment->reading = std::move(database);
  return absl::OkStatus();
}

absl::Status Journal::SyncFound() {
  // All before the last segment was synced when the last was begun.
  if (segments_.empty()) return absl::OkStatus();
  const std::string& dir = segments_.back().path;
  std::vector<std::string> names;
  options_.env->GetChildren(dir, &names);
  for (const std::string& name : names) {
    if (!absl::EndsWith(name, ".log")) continue;
    leveldb::WritableFile* opened = nullptr;
    leveldb::Status status =
        options_.env->NewAppendableFile(absl::StrCat(dir, "/", name), &opened);
    const std::unique_ptr<leveldb::WritableFile> file(opened);
    if (status.ok()) status = file->Sync();
    if (!status.ok()) {
      return absl::UnavailableError(
          absl::StrCat("cannot sync ", dir, ": ", status.ToString()));
    }
  }
  return absl::OkStatus();
}

absl::Status Journal::Replay(RecordNumber from, const Each& each) {
  for (Segment& segment : segments_) {
    std::unique_ptr<Database> opened = std::move(segment.reading);
    if (segment.last < from || segment.last < segment.first) continue;
    if (opened == nullptr) {
      ASSIGN_OR_RETURN(opened, OpenForReading(segment));
    }
    const auto iterator = opened->NewIterator();
    iterator->Seek(JournalKey(std::max(from, segment.first)));
    for (; iterator->Valid(); iterator->Next()) {
      const auto number = ParseJournalKey(ToView(iterator->key()));
      const auto record = DecodeJournalRecord(ToView(iterator->value()));
      if (!number.has_value() || !record.ok()) {
        return absl::DataLossError(
            absl::StrCat(segment.path, ": record ", number.value_or(0),
                         " can't be read: ", record.status().message()));
      }
      RETURN_IF_ERROR(each(*number, *record));
    }
    RETURN_IF_ERROR(opened->Check(iterator->status()));
  }
  return absl::OkStatus();
}

absl::Status Journal::FinishReplay() {
  for (Segment& segment : segments_) segment.reading.reset();
  std::vector<std::string> names;
  options_.env->GetChildren(dir_, &names);
  for (const std::string& name : names) {
    if (absl::StartsWith(name, "new-") || absl::StartsWith(name, "cut-")) {
      RETURN_IF_ERROR(RemoveTree(absl::StrCat(dir_, "/", name)));
    }
  }
  return absl::OkStatus();
}

absl::Status Journal::BeginSegment() {
  const std::string name =
      absl::StrFormat("%010u-%020d", next_number_, last_.load() + 1);
  const std::string made = absl::StrCat(dir_, "/new-", name);
  const std::string path = absl::StrCat(dir_, "/", name);
  DatabaseOptions options;
  options.env = options_.env;
  options.compress = false;
  options.write_buffer_bytes = options_.segment_bytes + kBufferSlack;
  options.create = true;
  {
    ASSIGN_OR_RETURN(auto database, Database::Open(made, options));
    leveldb::WriteBatch batch;
    batch.Put(JournalKey(0), store_id_);
    RETURN_IF_ERROR(database->Write(&batch, true));
  }
  // Under its name it is whole: a segment without its files is damaged, not
  // unfinished.
  const leveldb::Status renamed = options_.env->RenameFile(made, path);
  if (!renamed.ok()) {
    return absl::UnavailableError(
        absl::StrCat("cannot make ", path, ": ", renamed.ToString()));
  }
  RETURN_IF_ERROR(SyncDirectory(dir_));
  options.create = false;
  ASSIGN_OR_RETURN(writing_, Database::Open(path, options));
  segment_bytes_ = 0;
  std::lock_guard<std::mutex> lock(mutex_);
  Segment segment;
  segment.number = next_number_++;
  segment.first = last_ + 1;
  segment.last = last_;
  segment.path = path;
  segments_.push_back(std::move(segment));
  last_is_open_ = true;
  return absl::OkStatus();
}

absl::Status Journal::EndSegment() {
  if (has_unsynced_) RETURN_IF_ERROR(Sync());
  writing_.reset();
  std::lock_guard<std::mutex> lock(mutex_);
  last_is_open_ = false;
  return absl::OkStatus();
}

absl::Status Journal::Append(const std::vector<JournalRecord>& records,
                             bool sync) {
  if (failed_) {
    return absl::UnavailableError(
        absl::StrCat("an earlier write to ", dir_, " failed"));
  }
  failed_ = true;  // until all went well
  if (writing_ != nullptr && segment_bytes_ >= options_.segment_bytes) {
    RETURN_IF_ERROR(EndSegment());
  }
  if (writing_ == nullptr) {
    const absl::Status begun = BeginSegment();
    if (!begun.ok()) return absl::UnavailableError(begun.message());
  }
  leveldb::WriteBatch batch;
  RecordNumber number = last_;
  for (const JournalRecord& record : records) {
    batch.Put(JournalKey(++number), EncodeJournalRecord(record));
  }
  const size_t bytes = batch.ApproximateSize();
  RETURN_IF_ERROR(writing_->Write(&batch, sync));
  has_unsynced_ = !sync;
  segment_bytes_ += bytes;
  appended_bytes_ += bytes;
  last_ = number;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    segments_.back().last = number;
  }
  failed_ = false;
  return absl::OkStatus();
}

absl::Status Journal::Sync() {
  if (!has_unsynced_) return absl::OkStatus();
  leveldb::WriteBatch nothing;
  RETURN_IF_ERROR(writing_->Write(&nothing, true));
  has_unsynced_ = false;
  return absl::OkStatus();
}

absl::Status Journal::Cut(RecordNumber through) {
  std::vector<std::string> paths;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const size_t kept = last_is_open_ ? 1 : 0;
    while (segments_.size() > kept && segments_.front().last <= through) {
      paths.push_back(segments_.front().path);
      segments_.erase(segments_.begin());
    }
  }
  // The oldest first: what is left after a stop in between has no gap.
  for (const std::string& path : paths) {
    const std::string cut =
        absl::StrCat(dir_, "/cut-", path.substr(dir_.size() + 1));
    const leveldb::Status renamed = options_.env->RenameFile(path, cut);
    if (!renamed.ok()) {
      return absl::UnavailableError(
          absl::StrCat("cannot remove ", path, ": ", renamed.ToString()));
    }
    RETURN_IF_ERROR(RemoveTree(cut));
  }
  return absl::OkStatus();
}

absl::Status Journal::RemoveTree(const std::string& path) const {
  std::vector<std::string> names;
  options_.env->GetChildren(path, &names);
  for (const std::string& name : names) {
    if (name == "." || name == "..") continue;
    options_.env->RemoveFile(absl::StrCat(path, "/", name));
  }
  const leveldb::Status removed = options_.env->RemoveDir(path);
  if (removed.ok()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot remove ", path, ": ", removed.ToString()));
}

size_t Journal::segment_count() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return segments_.size();
}

}  // namespace casement::state
