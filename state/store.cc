#include "state/store.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "state/checkpoint_reader.h"
#include "state/database.h"
#include "state/log_check.h"
#include "state/status_macros.h"

namespace casement::state {
namespace {

// Bounds of one WriteBatch: a larger one stalls every other write.
constexpr size_t kMaxBatchBytes = 1 << 20;
constexpr int kMaxBatchKeys = 4000;

constexpr char kStoreId[] = "store_id";
constexpr char kNextStream[] = "next_stream";
constexpr char kCut[] = "cut";

// What a view has, and what a stream has besides, in the order of removal.
constexpr Table kViewTables[] = {Table::kLog, Table::kRow, Table::kLate};
constexpr Table kStreamTables[] = {Table::kLog,
                                   Table::kRow,
                                   Table::kLate,
                                   Table::kCheckpointChunk,
                                   Table::kCheckpointMark,
                                   Table::kPublished,
                                   Table::kDroppedView};

std::string StatePath(const Directory& directory) {
  return directory.path() + "/state";
}
std::string JournalPath(const Directory& directory) {
  return directory.path() + "/journal";
}

DatabaseOptions StateOptions(const StoreOptions& options) {
  DatabaseOptions result;
  result.env = options.env;
  result.write_buffer_bytes = options.state_buffer_bytes;
  return result;
}

absl::Status Damaged(const Directory& directory, const absl::Status& status) {
  if (!absl::IsDataLoss(status)) return AsOpenError(status);
  return MakeOpenError(
      OpenError::kCorrupt,
      absl::StrCat("the store in ", directory.path(),
                   " is damaged: ", status.message(),
                   ". Nothing was changed; restore it from a copy"));
}

// Calls `each(key, value)` for the keys with a prefix, until it fails.
template <typename Each>
absl::Status ForEach(const Database& database, absl::string_view prefix,
                     const Each& each) {
  const auto iterator = database.NewIterator();
  for (iterator->Seek(ToSlice(prefix));
       iterator->Valid() && iterator->key().starts_with(ToSlice(prefix));
       iterator->Next()) {
    RETURN_IF_ERROR(each(ToView(iterator->key()), ToView(iterator->value())));
  }
  return database.Check(iterator->status());
}

absl::StatusOr<int64_t> GetMetaNumber(const Database& database,
                                      absl::string_view name) {
  ASSIGN_OR_RETURN(const auto value, database.Get(MetaKey(name)));
  if (!value.has_value()) {
    return absl::DataLossError(
        absl::StrCat(database.path(), ": the entry ", name, " is missing"));
  }
  return DecodeNumber(*value);
}

absl::Status UnreadableKey(const Database& database) {
  return absl::DataLossError(
      absl::StrCat(database.path(), ": a key can't be read"));
}

absl::StatusOr<std::vector<StoredStream>> LoadStreamsFrom(
    const Database& database) {
  std::vector<StoredStream> streams;
  RETURN_IF_ERROR(ForEach(
      database, absl::string_view("s"),
      [&](absl::string_view key, absl::string_view value) -> absl::Status {
        const auto number = ParseStreamKey(Table::kDefinition, key);
        if (!number.has_value()) return UnreadableKey(database);
        ASSIGN_OR_RETURN(const absl::string_view definition,
                         DecodeDefinitionValue(value));
        StoredStream stream;
        stream.number = *number;
        stream.definition = std::string(definition);
        streams.push_back(std::move(stream));
        return absl::OkStatus();
      }));
  for (StoredStream& stream : streams) {
    ASSIGN_OR_RETURN(const auto published,
                     database.Get(StreamKey(Table::kPublished, stream.number)));
    if (published.has_value()) {
      ASSIGN_OR_RETURN(stream.published, DecodeNumber(*published));
    }
    ASSIGN_OR_RETURN(
        const auto mark,
        database.Get(StreamKey(Table::kCheckpointMark, stream.number)));
    if (mark.has_value()) {
      ASSIGN_OR_RETURN(stream.mark, DecodeMark(*mark));
    }
  }
  return streams;
}

// Reads all that a start loads.
absl::Status VerifyState(const Database& database,
                         const std::string& store_id) {
  ASSIGN_OR_RETURN(const auto id, database.Get(MetaKey(kStoreId)));
  if (id != store_id) {
    return MakeOpenError(OpenError::kForeign,
                         absl::StrCat(database.path(),
                                      " belongs to another store than the "
                                      "marker beside it; nothing was changed"));
  }
  for (const char* table : {"m", "d", "v", "p", "c"}) {
    RETURN_IF_ERROR(ForEach(
        database, table,
        [](absl::string_view, absl::string_view) { return absl::OkStatus(); }));
  }
  ASSIGN_OR_RETURN(const auto streams, LoadStreamsFrom(database));
  for (const StoredStream& stream : streams) {
    if (!stream.mark.has_value()) continue;
    CheckpointReader reader(database, stream.number, *stream.mark);
    while (true) {
      ASSIGN_OR_RETURN(const auto chunk, reader.Next());
      if (!chunk.has_value()) break;
    }
  }
  return absl::OkStatus();
}

}  // namespace

Store::Store(Directory* directory, const StoreOptions& options)
    : directory_(directory), options_(options) {}

Store::~Store() = default;

absl::StatusOr<std::unique_ptr<Store>> Store::Open(
    Directory* directory, const StoreOptions& options) {
  std::unique_ptr<Store> store(new Store(directory, options));
  if (directory->ready()) {
    const absl::Status checked = store->CheckBeforeOpening();
    if (!checked.ok()) return Damaged(*directory, checked);
    const absl::Status synced = store->journal_->SyncFound();
    if (!synced.ok()) return AsOpenError(synced);
    auto opened = Database::Open(StatePath(*directory), StateOptions(options));
    if (!opened.ok()) return Damaged(*directory, opened.status());
    store->state_ = *std::move(opened);
  } else {
    const absl::Status created = store->Create();
    if (!created.ok()) return AsOpenError(created);
  }
  absl::Status status = store->LoadMeta();
  if (status.ok()) status = store->LoadPurges();
  if (!status.ok()) return Damaged(*directory, status);
  return store;
}

absl::Status Store::CheckBeforeOpening() {
  leveldb::Env* const env =
      options_.env != nullptr ? options_.env : leveldb::Env::Default();
  const std::string path = StatePath(*directory_);
  RETURN_IF_ERROR(CheckLogEnds(env, path));
  ASSIGN_OR_RETURN(const auto state,
                   Database::OpenReadOnly(path, StateOptions(options_)));
  RETURN_IF_ERROR(VerifyState(*state, directory_->store_id()));
  ASSIGN_OR_RETURN(const RecordNumber cut, GetMetaNumber(*state, kCut));
  JournalOptions journal;
  journal.env = options_.env;
  journal.segment_bytes = options_.segment_bytes;
  ASSIGN_OR_RETURN(
      journal_, Journal::Open(JournalPath(*directory_), directory_->store_id(),
                              cut, journal));
  return absl::OkStatus();
}

absl::Status Store::Create() {
  // The marker says that the store was never finished, so nobody can have put
  // anything into it.
  std::error_code error;
  for (const std::string& path :
       {StatePath(*directory_), JournalPath(*directory_)}) {
    std::filesystem::remove_all(path, error);
    if (!error) std::filesystem::create_directory(path, error);
    if (error) {
      return MakeOpenError(
          OpenError::kUnwritable,
          absl::StrCat("cannot make ", path, ": ", error.message()));
    }
  }
  DatabaseOptions options = StateOptions(options_);
  options.create = true;
  ASSIGN_OR_RETURN(state_, Database::Open(StatePath(*directory_), options));
  leveldb::WriteBatch batch;
  batch.Put(MetaKey(kStoreId), directory_->store_id());
  batch.Put(MetaKey(kNextStream), EncodeNumber(1));
  batch.Put(MetaKey(kCut), EncodeNumber(0));
  RETURN_IF_ERROR(state_->Write(&batch, true));
  JournalOptions journal;
  journal.env = options_.env;
  journal.segment_bytes = options_.segment_bytes;
  ASSIGN_OR_RETURN(journal_, Journal::Open(JournalPath(*directory_),
                                           directory_->store_id(), 0, journal));
  RETURN_IF_ERROR(SyncDirectory(directory_->path()));
  return directory_->MarkReady();
}

absl::Status Store::LoadMeta() {
  ASSIGN_OR_RETURN(const int64_t next, GetMetaNumber(*state_, kNextStream));
  next_stream_ = static_cast<uint32_t>(next);
  ASSIGN_OR_RETURN(cut_, GetMetaNumber(*state_, kCut));
  return absl::OkStatus();
}

absl::Status Store::LoadPurges() {
  RETURN_IF_ERROR(
      ForEach(*state_, absl::string_view("d"),
              [&](absl::string_view key, absl::string_view) -> absl::Status {
                const auto stream = ParseStreamKey(Table::kDeletedStream, key);
                if (!stream.has_value()) return UnreadableKey(*state_);
                Purge purge;
                purge.stream = *stream;
                purges_.push_back(purge);
                return absl::OkStatus();
              }));
  return ForEach(*state_, absl::string_view("v"),
                 [&](absl::string_view key, absl::string_view) -> absl::Status {
                   const auto view = ParseViewKey(Table::kDroppedView, key);
                   if (!view.has_value()) return UnreadableKey(*state_);
                   DropViewLater(view->stream, view->view);
                   return absl::OkStatus();
                 });
}

absl::StatusOr<std::vector<StoredStream>> Store::LoadStreams() const {
  return LoadStreamsFrom(*state_);
}

absl::StatusOr<bool> Store::IsDeleted(uint32_t stream,
                                      RecordNumber record) const {
  // An entry about a deletion is kept until the journal is cut behind it.
  if (record <= cut_) return true;
  ASSIGN_OR_RETURN(const auto deleted,
                   Get(StreamKey(Table::kDeletedStream, stream)));
  if (deleted.has_value()) return true;
  return absl::DataLossError(absl::StrCat(
      directory_->path(), ": journal record ", record, " is of stream number ",
      stream, ", whose definition is missing"));
}

absl::StatusOr<uint32_t> Store::CreateStream(absl::string_view definition) {
  const uint32_t number = next_stream_;
  leveldb::WriteBatch batch;
  batch.Put(MetaKey(kNextStream), EncodeNumber(int64_t{number} + 1));
  batch.Put(StreamKey(Table::kDefinition, number),
            EncodeDefinitionValue(definition));
  RETURN_IF_ERROR(state_->Write(&batch, true));
  next_stream_ = number + 1;
  return number;
}

absl::Status Store::DeleteStream(uint32_t stream, RecordNumber last_record) {
  leveldb::WriteBatch batch;
  batch.Delete(StreamKey(Table::kDefinition, stream));
  batch.Put(StreamKey(Table::kDeletedStream, stream),
            EncodeNumber(last_record));
  RETURN_IF_ERROR(state_->Write(&batch, true));
  Purge purge;
  purge.stream = stream;
  purges_.push_back(purge);
  return absl::OkStatus();
}

void Store::DropViewLater(uint32_t stream, uint32_t view) {
  Purge purge;
  purge.stream = stream;
  purge.view = view;
  purges_.push_back(purge);
}

absl::StatusOr<bool> Store::PurgeSome() {
  if (purges_.empty()) return false;
  Purge& purge = purges_.front();
  const size_t tables = purge.view.has_value() ? std::size(kViewTables)
                                               : std::size(kStreamTables);
  if (purge.table == tables) {
    RETURN_IF_ERROR(FinishPurge(purge));
    purges_.pop_front();
    return true;
  }
  const std::string prefix =
      purge.view.has_value()
          ? ViewKey(kViewTables[purge.table], purge.stream, *purge.view)
          : StreamKey(kStreamTables[purge.table], purge.stream);
  leveldb::WriteBatch batch;
  int keys = 0;
  const auto iterator = state_->NewIterator();
  iterator->Seek(purge.resume_key.empty() ? prefix : purge.resume_key);
  for (; keys < kMaxBatchKeys && iterator->Valid() &&
         iterator->key().starts_with(prefix);
       iterator->Next(), ++keys) {
    batch.Delete(iterator->key());
    purge.resume_key = iterator->key().ToString();
  }
  RETURN_IF_ERROR(state_->Check(iterator->status()));
  if (keys > 0) RETURN_IF_ERROR(state_->Write(&batch, false));
  if (keys < kMaxBatchKeys) {
    ++purge.table;
    purge.resume_key.clear();
  }
  return true;
}

absl::Status Store::FinishPurge(const Purge& purge) {
  if (!purge.view.has_value()) {
    // Its entry stays until the journal has no record of the stream.
    return absl::OkStatus();
  }
  leveldb::WriteBatch batch;
  batch.Delete(ViewKey(Table::kDroppedView, purge.stream, *purge.view));
  return state_->Write(&batch, false);
}

absl::Status Store::ValidateCheckpoints(const std::vector<NewMark>& marks) {
  // The journal after a mark says nothing of what came before it: results,
  // rows and chunks must not be in a log file that a power cut can take.
  RETURN_IF_ERROR(state_->Flush());
  leveldb::WriteBatch batch;
  for (const NewMark& mark : marks) {
    batch.Put(StreamKey(Table::kCheckpointMark, mark.stream),
              EncodeMark(mark.mark));
  }
  RETURN_IF_ERROR(state_->Write(&batch, true));
  for (const NewMark& mark : marks) {
    RETURN_IF_ERROR(
        RemoveRange(StreamKey(Table::kCheckpointChunk, mark.stream),
                    CheckpointPrefix(mark.stream, mark.mark.checkpoint)));
  }
  return absl::OkStatus();
}

absl::Status Store::RemoveStrayChunks(const StoredStream& stream) {
  const std::string all = StreamKey(Table::kCheckpointChunk, stream.number);
  const uint64_t valid = stream.mark.has_value() ? stream.mark->checkpoint : 0;
  RETURN_IF_ERROR(RemoveRange(all, CheckpointPrefix(stream.number, valid)));
  return RemoveRange(CheckpointPrefix(stream.number, valid + 1),
                     PrefixEnd(all));
}

absl::Status Store::RemoveRange(absl::string_view begin,
                                absl::string_view end) {
  StoreWriter writer(this);
  const auto iterator = state_->NewIterator();
  for (iterator->Seek(ToSlice(begin));
       iterator->Valid() && ToView(iterator->key()) < end; iterator->Next()) {
    writer.Delete(ToView(iterator->key()));
  }
  RETURN_IF_ERROR(state_->Check(iterator->status()));
  return writer.Commit();
}

absl::Status Store::CutJournal(RecordNumber through) {
  if (through <= cut_) return absl::OkStatus();
  leveldb::WriteBatch batch;
  batch.Put(MetaKey(kCut), EncodeNumber(through));
  // Deletions that are done, and that no record of the journal needs any more.
  RETURN_IF_ERROR(ForEach(
      *state_, absl::string_view("d"),
      [&](absl::string_view key, absl::string_view value) -> absl::Status {
        ASSIGN_OR_RETURN(const int64_t last, DecodeNumber(value));
        const auto stream = ParseStreamKey(Table::kDeletedStream, key);
        for (const Purge& purge : purges_) {
          if (!purge.view.has_value() && purge.stream == stream) {
            return absl::OkStatus();
          }
        }
        if (last <= through) batch.Delete(ToSlice(key));
        return absl::OkStatus();
      }));
  RETURN_IF_ERROR(state_->Write(&batch, true));
  cut_ = through;
  return journal_->Cut(through);
}

absl::StatusOr<std::optional<std::string>> Store::Get(
    absl::string_view key) const {
  return state_->Get(key);
}

struct StoreWriter::Rep {
  leveldb::WriteBatch batch;
};

StoreWriter::StoreWriter(Store* store)
    : store_(store), rep_(std::make_unique<Rep>()) {}

StoreWriter::~StoreWriter() = default;

void StoreWriter::Put(absl::string_view key, absl::string_view value) {
  rep_->batch.Put(ToSlice(key), ToSlice(value));
  Added(key.size() + value.size());
}

void StoreWriter::Delete(absl::string_view key) {
  rep_->batch.Delete(ToSlice(key));
  Added(key.size());
}

void StoreWriter::Added(size_t bytes) {
  bytes_ += bytes;
  ++keys_;
  if (bytes_ >= kMaxBatchBytes || keys_ >= kMaxBatchKeys) {
    Commit().IgnoreError();  // kept in status_
  }
}

absl::Status StoreWriter::Commit(bool sync) {
  if (status_.ok() && (keys_ > 0 || sync)) {
    status_ = store_->state_->Write(&rep_->batch, sync);
  }
  rep_->batch.Clear();
  bytes_ = 0;
  keys_ = 0;
  return status_;
}

}  // namespace casement::state
