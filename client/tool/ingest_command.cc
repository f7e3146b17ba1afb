#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "casement/v1/definition.grpc.pb.h"
#include "casement/v1/ingest.grpc.pb.h"
#include "client/names.h"
#include "client/producer.h"
#include "client/tool/byte_source.h"
#include "client/tool/commands.h"
#include "client/tool/connection_note.h"
#include "client/tool/durations.h"
#include "client/tool/event_reader.h"
#include "client/tool/progress_line.h"
#include "client/tool/reject_log.h"
#include "client/tool/rpc_call.h"
#include "client/tool/values.h"

namespace casement::tool {
namespace {

// The input, which may be standard input.
class Input {
 public:
  ~Input() {
    if (owned_) close(fd_);
  }

  absl::Status Open(const std::string& path, int in_fd) {
    if (path == "-") {
      fd_ = in_fd;
      return absl::OkStatus();
    }
    fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) {
      return absl::NotFoundError(
          absl::StrCat("can't read \"", path, "\": ", std::strerror(errno)));
    }
    owned_ = true;
    struct stat info = {};
    regular_ = fstat(fd_, &info) == 0 && S_ISREG(info.st_mode);
    return absl::OkStatus();
  }

  int fd() const { return fd_; }
  // A file that a later run can go on with.
  bool regular() const { return regular_; }

 private:
  int fd_ = -1;
  bool owned_ = false;
  bool regular_ = false;
};

// "/data/Flights_20k.csv" -> "flights-20k": what a producer may be called.
std::string ProducerIdFor(const std::string& path) {
  if (path == "-") return "stdin";
  std::string name = path.substr(path.find_last_of('/') + 1);
  name = name.substr(0, name.find_last_of('.'));
  std::string id;
  for (const char c : name) {
    const char lower = absl::ascii_tolower(static_cast<unsigned char>(c));
    const bool fits = absl::ascii_isalnum(static_cast<unsigned char>(lower));
    if (fits) {
      id.push_back(lower);
    } else if (!id.empty() && id.back() != '-') {
      id.push_back('-');
    }
  }
  if (id.empty() || !absl::ascii_isalpha(static_cast<unsigned char>(id[0]))) {
    id.insert(0, "f-");
  }
  constexpr size_t kLongest = 63;
  id.resize(std::min(id.size(), kLongest));
  while (id.back() == '-') id.pop_back();
  return id;
}

absl::Duration ToDuration(const google::protobuf::Duration& proto) {
  return absl::Seconds(proto.seconds()) + absl::Nanoseconds(proto.nanos());
}

ProgressLine::Mode ProgressMode(const Io& io, const std::string& text) {
  if (text == "lines") return ProgressLine::Mode::kLines;
  if (text == "auto" && io.err_is_terminal) return ProgressLine::Mode::kRepaint;
  return ProgressLine::Mode::kNone;
}

class Ingestion {
 public:
  Ingestion(Io& io, const IngestOptions& options)
      : io_(io),
        options_(options),
        path_(options.csv.empty() ? options.jsonl : options.csv),
        progress_(io.err, ProgressMode(io, options.progress)) {}

  int Run(const ServerOptions& server);

 private:
  // Each gives an exit code where it has said what is wrong.
  std::optional<int> CheckOptions();
  std::optional<int> OpenReader(const std::string& stream_name);
  absl::Status OpenProducer(const std::string& stream_name);
  absl::Status Resume();
  absl::Status SendAll();
  absl::Status Finish(const std::string& stream_name);
  void Pace(int64_t sent, absl::Time start) const;
  void Summary();

  Io& io_;
  const IngestOptions& options_;
  const std::string path_;
  Input input_;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<EventReader> reader_;
  std::shared_ptr<grpc::Channel> channel_;
  RejectLog rejects_;
  ProgressLine progress_;
  ConnectionNote note_;
  absl::Duration give_up_after_;
  std::optional<int64_t> watermark_us_;
  int64_t read_ = 0;
  bool resumed_ = false;
  // Last, so that its threads end before what they use does.
  std::unique_ptr<client::Producer> producer_;
};

std::optional<int> Ingestion::CheckOptions() {
  if (options_.csv.empty() == options_.jsonl.empty()) {
    return ReportUsage(io_, "one of --csv and --jsonl names the input");
  }
  const auto give_up_after = ParseDuration(options_.give_up_after);
  if (!give_up_after.ok()) {
    return ReportUsage(io_, give_up_after.status().message());
  }
  give_up_after_ = ToDuration(*give_up_after);
  if (!options_.watermark.empty()) {
    std::string remark;
    watermark_us_ =
        ParseTime(options_.watermark, TimeFormat::kRfc3339, &remark);
    if (!watermark_us_) {
      return ReportUsage(io_, absl::StrCat("--watermark: ", remark));
    }
  }
  return std::nullopt;
}

std::optional<int> Ingestion::OpenReader(const std::string& stream_name) {
  if (absl::Status status = input_.Open(path_, io_.in_fd); !status.ok()) {
    return ReportError(io_, status);
  }
  // Before the producer is opened: a wrong command shuts out no one.
  v1::GetStreamRequest request;
  request.set_name(stream_name);
  const absl::StatusOr<v1::Stream> stream =
      Call(*v1::DefinitionService::NewStub(channel_),
           &v1::DefinitionService::Stub::GetStream, request);
  if (!stream.ok()) return ReportError(io_, stream.status());
  source_ = std::make_unique<ByteSource>(input_.fd());
  auto reader = options_.csv.empty()
                    ? NewJsonlEventReader(source_.get(), *stream, options_)
                    : NewCsvEventReader(source_.get(), *stream, options_);
  if (!reader.ok()) return ReportUsage(io_, reader.status().message());
  reader_ = *std::move(reader);
  *io_.err << path_ << ": " << reader_->Mapping() << "\n";
  return std::nullopt;
}

absl::Status Ingestion::OpenProducer(const std::string& stream_name) {
  client::ProducerOptions options;
  options.stream = stream_name;
  options.producer_id =
      options_.producer.empty() ? ProducerIdFor(path_) : options_.producer;
  options.form =
      options_.rows ? client::BatchForm::kRows : client::BatchForm::kColumns;
  if (options_.buffered) options.durability = v1::DURABILITY_BUFFERED;
  options.max_batch_events = options_.batch_events;
  options.give_up_after = give_up_after_;
  // How a whole file is cut into batches does not depend on speed; what comes
  // as it happens is not held back for a full batch.
  options.linger = input_.regular() && options_.rate <= 0
                       ? absl::InfiniteDuration()
                       : absl::Milliseconds(200);
  options.on_batch = [this](const client::BatchReport& report) {
    rejects_.AddBatch(report);
    // There is none yet while Open returns.
    if (producer_) progress_.Update(producer_->totals());
  };
  options.on_refused = [this](const client::BatchReport& report,
                              const absl::Status& status) {
    rejects_.AddRefusedBatch(report, status);
    return options_.skip_refused;
  };
  options.on_connection = [this](const absl::Status& status) {
    const std::string note = note_.For(status);
    if (!note.empty()) progress_.Say(note);
  };
  auto producer = client::Producer::Open(channel_, std::move(options));
  if (!producer.ok()) return producer.status();
  producer_ = *std::move(producer);
  return absl::OkStatus();
}

absl::Status Ingestion::Resume() {
  if (!input_.regular()) {
    *io_.err << "standard input can't be gone on with: if this run is cut "
                "short, sending the same again counts it twice\n";
    return absl::OkStatus();
  }
  if (producer_->resumed_sequence() == 0) return absl::OkStatus();
  const absl::StatusOr<Place> place =
      PlaceFromText(producer_->resumed_position());
  if (!place.ok()) return place.status();
  if (absl::Status status = source_->Seek(*place); !status.ok()) return status;
  resumed_ = true;
  *io_.err << "an earlier run has sent this file up to line " << place->line - 1
           << " (byte " << place->offset << "): going on there\n";
  return absl::OkStatus();
}

void Ingestion::Pace(int64_t sent, absl::Time start) const {
  if (options_.rate <= 0) return;
  const absl::Time due =
      start + absl::Seconds(static_cast<double>(sent) / options_.rate);
  absl::SleepFor(due - absl::Now());
}

absl::Status Ingestion::SendAll() {
  InputEvent next;
  const absl::Time start = absl::Now();
  while (true) {
    const absl::StatusOr<bool> more = reader_->Next(&next);
    if (!more.ok()) return more.status();
    if (!*more) return absl::OkStatus();
    ++read_;
    if (!next.fault.empty()) {
      rejects_.AddMalformed(next.line, next.fault);
      continue;
    }
    if (!next.remark.empty()) rejects_.AddRemark(next.line, next.remark);
    const absl::Status status = producer_->Add(
        next.event, input_.regular() ? PlaceText(source_->place()) : "");
    if (!status.ok()) {
      if (!producer_->status().ok()) return status;
      rejects_.AddMalformed(next.line, std::string(status.message()));
    }
    Pace(read_, start);
  }
}

absl::Status Ingestion::Finish(const std::string& stream_name) {
  if (watermark_us_) {
    const absl::Status status =
        producer_->AssertWatermark(absl::FromUnixMicros(*watermark_us_));
    if (!status.ok()) return status;
  }
  if (absl::Status status = producer_->Close(); !status.ok()) return status;
  if (!options_.end_of_stream) return absl::OkStatus();
  v1::EndStreamRequest request;
  request.set_name(stream_name);
  return Call(*v1::DefinitionService::NewStub(channel_),
              &v1::DefinitionService::Stub::EndStream, request)
      .status();
}

void Ingestion::Summary() {
  const client::ProducerTotals totals = producer_->totals();
  const auto line = [this](const char* name, int64_t count) {
    *io_.out << absl::StrFormat("%-12s %d\n", name, count);
  };
  if (resumed_ && read_ == 0) {
    *io_.out << "everything was already sent by an earlier run\n";
  }
  line("read", read_);
  line("received", totals.received_events);
  line("accepted", totals.accepted_events);
  line("late", totals.late_events);
  line("rejected", totals.rejected_events);
  line("duplicate", totals.duplicate_events);
  line("malformed", rejects_.malformed());
  if (totals.refused_events > 0) line("refused", totals.refused_events);
  if (totals.pending_events > 0) {
    line("unsent", totals.pending_events);
  }
  rejects_.Print(*io_.out);
  if (!resumed_) return;
  v1::GetProducerRequest request;
  request.set_name(producer_->name());
  const absl::StatusOr<v1::Producer> all =
      Call(*v1::IngestService::NewStub(channel_),
           &v1::IngestService::Stub::GetProducer, request);
  if (!all.ok()) return;  // It only adds to what was said.
  *io_.out << "all runs     accepted " << all->accepted_events() << ", late "
           << all->late_events() << ", rejected " << all->rejected_events()
           << "\n";
}

int Ingestion::Run(const ServerOptions& server) {
  if (const std::optional<int> code = CheckOptions()) return *code;
  const absl::StatusOr<std::string> name = client::StreamName(options_.stream);
  if (!name.ok()) return ReportUsage(io_, name.status().message());
  auto channel = Connect(server);
  if (!channel.ok()) return ReportError(io_, channel.status());
  channel_ = *std::move(channel);
  if (const std::optional<int> code = OpenReader(*name)) return *code;
  absl::Status status = OpenProducer(*name);
  if (status.ok()) status = Resume();
  if (!status.ok()) return ReportError(io_, status);
  status = SendAll();
  // What came before a fault in the input counts, and is not sent again.
  if (producer_->status().ok()) {
    const absl::Status finished =
        status.ok() ? Finish(*name) : producer_->Flush();
    if (status.ok()) status = finished;
  }
  progress_.Clear();
  Summary();
  if (!status.ok()) return ReportError(io_, status);
  const client::ProducerTotals totals = producer_->totals();
  const bool faults =
      totals.rejected_events + totals.refused_events + rejects_.malformed() > 0;
  return options_.strict && faults ? kExitFailed : kExitOk;
}

}  // namespace

int Ingest(Io& io, const ServerOptions& server, const IngestOptions& options) {
  return Ingestion(io, options).Run(server);
}

}  // namespace casement::tool
