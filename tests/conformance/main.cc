// casement_conformance: runs window cases against a real casementd through the
// public API.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "casement/v1/admin.grpc.pb.h"
#include "tests/conformance/case.h"
#include "tests/conformance/run.h"
#include "tests/support/rpc.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"

ABSL_FLAG(std::string, casementd, "",
          "the server to test; else $CASEMENTD, else the one beside this "
          "program");
ABSL_FLAG(std::string, form, "both",
          "the wire form of the batches: rows, columns or both");
ABSL_FLAG(bool, keep, false,
          "keep the data directory and the server's log, and say where");

namespace casement::conformance {
namespace {

namespace fs = std::filesystem;

constexpr char kUsage[] =
    "Runs window cases against a real casementd through the public API.\n"
    "usage: casement_conformance [flags] PATH...\n"
    "PATH is a case file, or a directory: all *.json in it and below.\n"
    "Prints a line for each case and the counts last. Exit code 0 if none\n"
    "failed, 1 if one did or there was none, 2 for a wrong use.";

absl::StatusOr<std::vector<Form>> ParseForms(const std::string& text) {
  if (text == "rows") return std::vector<Form>{Form::kRows};
  if (text == "columns") return std::vector<Form>{Form::kColumns};
  if (text == "both") return std::vector<Form>{Form::kRows, Form::kColumns};
  return absl::InvalidArgumentError(
      absl::StrCat("--form is rows, columns or both, not \"", text, "\""));
}

// The files of all paths in order; those of a directory by name.
absl::StatusOr<std::vector<fs::path>> FindFiles(
    const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
      return absl::NotFoundError(absl::StrCat("no such file: ", path));
    }
    if (!fs::is_directory(status)) {
      files.push_back(path);
      continue;
    }
    std::vector<fs::path> below;
    for (fs::recursive_directory_iterator it(path, error), end;
         !error && it != end; it.increment(error)) {
      if (it->path().extension() == ".json" && it->is_regular_file(error)) {
        below.push_back(it->path());
      }
    }
    if (error) {
      return absl::UnknownError(absl::StrCat(path, ": ", error.message()));
    }
    std::sort(below.begin(), below.end());
    files.insert(files.end(), below.begin(), below.end());
  }
  return files;
}

absl::StatusOr<Case> ReadCase(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)),
                         std::istreambuf_iterator<char>());
  if (!file.good() && !file.eof()) {
    return absl::NotFoundError("can't be read");
  }
  return ParseCase(text, path.stem().string());
}

// One server with one data directory for all cases; another one when a case
// has left it in a state that no other can go on from.
class Service {
 public:
  explicit Service(std::string binary) : binary_(std::move(binary)) {}

  ~Service() { Drop(); }

  // Running and answering.
  absl::StatusOr<support::ServerProcess*> Get() {
    if (server_ != nullptr && server_->running()) {
      v1::GetServerInfoResponse info;
      if (Ask(&info).ok()) return server_.get();
    }
    Drop();
    directory_ = std::make_unique<support::TempDir>("casement-conformance");
    support::ServerProcess::Options options;
    options.binary = binary_;
    options.data_dir = directory_->Sub("data");
    options.log_file = directory_->Sub("log");
    options.test_clock = true;
    server_ = std::make_unique<support::ServerProcess>(options);
    if (absl::Status status = server_->Start(); !status.ok()) return status;
    v1::GetServerInfoResponse info;
    if (grpc::Status status = Ask(&info); !status.ok()) {
      return support::ToAbsl("GetServerInfo", status);
    }
    features_ = {info.features().begin(), info.features().end()};
    return server_.get();
  }

  // What the server lacks of `needs`; after Get().
  std::vector<std::string> Lacking(const std::vector<std::string>& needs) {
    std::vector<std::string> lacking;
    for (const std::string& feature : needs) {
      if (features_.count(feature) == 0) lacking.push_back(feature);
    }
    return lacking;
  }

 private:
  void Drop() {
    server_.reset();
    if (absl::GetFlag(FLAGS_keep) && directory_ != nullptr) {
      directory_->Keep();
      std::cerr << "kept " << directory_->path() << "\n";
    }
    directory_.reset();
  }

  grpc::Status Ask(v1::GetServerInfoResponse* info) {
    auto stub = v1::AdminService::NewStub(server_->NewChannel());
    return support::Call(*stub, &v1::AdminService::Stub::GetServerInfo,
                         v1::GetServerInfoRequest(), info,
                         std::chrono::milliseconds(5000));
  }

  const std::string binary_;
  std::unique_ptr<support::TempDir> directory_;
  std::unique_ptr<support::ServerProcess> server_;
  std::set<std::string> features_;
};

class Runner {
 public:
  Runner(std::string binary, std::vector<Form> forms)
      : service_(std::move(binary)), forms_(std::move(forms)) {}

  void Run(const fs::path& path) {
    absl::StatusOr<Case> c = ReadCase(path);
    if (!c.ok()) {
      return Failed(path.stem().string(), {std::string(c.status().message())});
    }
    absl::StatusOr<support::ServerProcess*> server = service_.Get();
    if (!server.ok()) return Failed(c->name, {server.status().ToString()});
    const std::vector<std::string> lacking = service_.Lacking(c->needs);
    if (!lacking.empty()) {
      ++skipped_;
      std::cout << "skipped " << c->name << ": needs "
                << absl::StrJoin(lacking, ", ") << std::endl;
      return;
    }
    const CaseReport report = RunCase(*c, forms_, ++number_, **server);
    column_batches_ += report.column_batches;
    batches_as_rows_ += report.batches_as_rows;
    if (!report.differences.empty()) return Failed(c->name, report.differences);
    ++passed_;
    std::cout << "passed " << c->name << std::endl;
  }

  // The exit code.
  int Finish() {
    if (column_batches_ > 0) {
      std::cout << "columns: " << batches_as_rows_ << " of " << column_batches_
                << " batches went as rows, since columns can't express them\n";
    }
    if (passed_ + failed_ + skipped_ == 0) std::cout << "no cases found\n";
    std::cout << passed_ << " passed, " << failed_ << " failed, " << skipped_
              << " skipped" << std::endl;
    return failed_ == 0 && passed_ + skipped_ > 0 ? 0 : 1;
  }

 private:
  void Failed(const std::string& name,
              const std::vector<std::string>& differences) {
    ++failed_;
    std::cout << "failed " << name << ": "
              << absl::StrJoin(differences, "\n    ") << std::endl;
  }

  Service service_;
  const std::vector<Form> forms_;
  int number_ = 0;
  int passed_ = 0;
  int failed_ = 0;
  int skipped_ = 0;
  int column_batches_ = 0;
  int batches_as_rows_ = 0;
};

int Main(const std::vector<std::string>& paths) {
  absl::StatusOr<std::vector<Form>> forms =
      ParseForms(absl::GetFlag(FLAGS_form));
  absl::StatusOr<std::vector<fs::path>> files = FindFiles(paths);
  absl::StatusOr<std::string> binary =
      support::FindServerBinary(absl::GetFlag(FLAGS_casementd));
  for (const absl::Status& status :
       {forms.status(), files.status(), binary.status()}) {
    if (status.ok()) continue;
    std::cerr << "casement_conformance: " << status.message() << "\n";
    return 2;
  }
  if (paths.empty()) {
    std::cerr << kUsage << "\n";
    return 2;
  }
  int exit_code = 0;
  {
    Runner runner(*binary, *forms);
    for (const fs::path& file : *files) runner.Run(file);
    exit_code = runner.Finish();
  }
  return exit_code;
}

}  // namespace
}  // namespace casement::conformance

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(casement::conformance::kUsage);
  const std::vector<char*> words = absl::ParseCommandLine(argc, argv);
  return casement::conformance::Main(
      std::vector<std::string>(words.begin() + 1, words.end()));
}
