#include "server/runtime/recovery.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/engine/record.h"
#include "server/runtime/errors.h"
#include "spdlog/spdlog.h"
#include "state/checkpoint_reader.h"
#include "state/keys.h"
#include "state/status_macros.h"

namespace casement::runtime {
namespace {

absl::Status Broken(const RecoveredStream& recovered, absl::string_view what) {
  return CorruptError(absl::StrCat(
      StreamName(recovered.definition.id), " can't be recovered: ", what,
      "; restore the store from a copy, or delete the stream"));
}

}  // namespace

absl::StatusOr<std::vector<RecoveredStream>> Recovery::Run() {
  ASSIGN_OR_RETURN(const auto stored, store_->LoadStreams());
  std::vector<RecoveredStream> streams(stored.size());
  std::map<uint32_t, Work> works;
  for (size_t i = 0; i < stored.size(); ++i) {
    RETURN_IF_ERROR(Load(stored[i], &streams[i]));
    Work& work = works[stored[i].number];
    work.recovered = &streams[i];
    if (streams[i].stream == nullptr) continue;
    work.verifier = std::make_unique<PublicationVerifier>(
        store_, &writer_, stored[i].number, streams[i].stream->version());
  }
  RETURN_IF_ERROR(store_->journal().Replay(
      store_->cut() + 1,
      [&](state::RecordNumber number,
          const state::JournalRecord& record) -> absl::Status {
        const auto it = works.find(record.stream);
        if (it != works.end()) return Fold(number, record, &it->second);
        return store_->IsDeleted(record.stream, number).status();
      }));
  for (auto& [number, work] : works) RETURN_IF_ERROR(Finish(&work));
  RETURN_IF_ERROR(writer_.Commit());
  return streams;
}

absl::Status Recovery::Load(const state::StoredStream& stored,
                            RecoveredStream* recovered) const {
  recovered->stored = stored;
  const absl::Status decoded =
      engine::DecodeDefinition(stored.definition, &recovered->definition);
  if (!decoded.ok()) {
    return absl::DataLossError(
        absl::StrCat("the definition of stream number ", stored.number,
                     " can't be read: ", decoded.message()));
  }
  const engine::StreamSpec& spec = recovered->definition.spec;
  if (!stored.mark.has_value()) {
    recovered->stream = std::make_unique<engine::Stream>(spec);
    return absl::OkStatus();
  }
  state::CheckpointReader reader(store_->database(), stored.number,
                                 *stored.mark);
  auto loaded =
      engine::Stream::LoadCheckpoint(spec, [&reader] { return reader.Next(); });
  if (loaded.ok() && (*loaded)->version() == stored.mark->version) {
    recovered->stream = *std::move(loaded);
    return absl::OkStatus();
  }
  recovered->broken = Broken(
      *recovered,
      absl::StrCat("checkpoint ", stored.mark->checkpoint, ": ",
                   loaded.ok() ? "it is of another version than its mark tells"
                               : loaded.status().message()));
  return absl::OkStatus();
}

absl::Status Recovery::Fold(state::RecordNumber number,
                            const state::JournalRecord& record, Work* work) {
  RecoveredStream& recovered = *work->recovered;
  if (recovered.stream == nullptr) return absl::OkStatus();
  engine::Stream& stream = *recovered.stream;
  if (record.version <= stream.version()) return absl::OkStatus();
  absl::Status status;
  if (record.version != stream.version() + 1) {
    status = absl::DataLossError(
        absl::StrCat("its record ", stream.version() + 1, " is missing"));
  } else {
    auto decoded = engine::DecodeRecord(record.payload, stream.spec());
    status = decoded.status();
    if (status.ok()) {
      stream.Fold(*std::move(decoded), false, &work->changes);
      status = work->verifier->Apply(work->changes);
      ++recovered.folded;
    }
  }
  if (status.ok() && work->changes.deleted_view.has_value()) {
    const uint32_t view = *work->changes.deleted_view;
    writer_.Put(state::ViewKey(state::Table::kDroppedView, record.stream, view),
                "");
    store_->DropViewLater(record.stream, view);
  }
  if (status.ok()) return absl::OkStatus();
  if (!absl::IsDataLoss(status)) return status;
  recovered.broken =
      Broken(recovered, absl::StrCat("journal record ", number, " (version ",
                                     record.version, "): ", status.message()));
  recovered.stream.reset();
  return absl::OkStatus();
}

absl::Status Recovery::Finish(Work* work) {
  RecoveredStream& recovered = *work->recovered;
  absl::Status status;
  if (recovered.stream != nullptr) {
    const engine::Version version = recovered.stream->version();
    if (version < recovered.stored.published) {
      status = absl::DataLossError(absl::StrCat(
          "the journal ends at version ", version, ", but version ",
          recovered.stored.published, " was published"));
    } else {
      status = work->verifier->Finish(*recovered.stream);
    }
  }
  if (absl::IsDataLoss(status)) {
    recovered.broken = Broken(recovered, status.message());
    recovered.stream.reset();
  } else if (!status.ok()) {
    return status;
  }
  if (recovered.stream == nullptr) {
    spdlog::error("{}", std::string(recovered.broken.message()));
    return absl::OkStatus();
  }
  if (recovered.folded > 0) {
    writer_.Put(
        state::StreamKey(state::Table::kPublished, recovered.stored.number),
        state::EncodeNumber(recovered.stream->version()));
  }
  return store_->RemoveStrayChunks(recovered.stored);
}

}  // namespace casement::runtime
