#include "client/tool/csv_reader.h"

#include "absl/strings/str_cat.h"

namespace casement::tool {
namespace {

// A quote that is missing would make one record of the rest of the file.
constexpr int64_t kMaxRecordBytes = 16 << 20;

}  // namespace

absl::StatusOr<bool> CsvReader::Next(CsvRecord* record) {
  record->fields.clear();
  record->fault.clear();
  while (TakeLineEnd()) {
  }
  if (source_->Peek() == ByteSource::kEnd) {
    if (!source_->status().ok()) return source_->status();
    return false;
  }
  record->line = source_->line();
  while (true) {
    if (absl::Status status = ReadField(record); !status.ok()) return status;
    if (!record->fault.empty()) {
      SkipLine();
      break;
    }
    if (source_->Peek() != ',') break;
    source_->Get();
  }
  TakeLineEnd();
  if (!source_->status().ok()) return source_->status();
  return true;
}

absl::Status CsvReader::ReadField(CsvRecord* record) {
  CsvText& field = record->fields.emplace_back();
  if (source_->Peek() == '"') return ReadQuoted(record, &field);
  while (!AtLineEnd() && source_->Peek() != ',') {
    const int byte = source_->Get();
    if (byte == '"') {
      record->fault = absl::StrCat("field ", record->fields.size(),
                                   " has a quote in its middle");
      return absl::OkStatus();
    }
    field.text.push_back(static_cast<char>(byte));
    if (static_cast<int64_t>(field.text.size()) > kMaxRecordBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", record->line, " is longer than 16 MiB"));
    }
  }
  return absl::OkStatus();
}

absl::Status CsvReader::ReadQuoted(CsvRecord* record, CsvText* field) {
  field->quoted = true;
  source_->Get();
  while (true) {
    const int byte = source_->Get();
    if (byte == ByteSource::kEnd ||
        static_cast<int64_t>(field->text.size()) > kMaxRecordBytes) {
      if (!source_->status().ok()) return source_->status();
      return absl::InvalidArgumentError(
          absl::StrCat("line ", record->line, ": the quote that opens field ",
                       record->fields.size(), " is never closed"));
    }
    if (byte != '"') {
      field->text.push_back(static_cast<char>(byte));
    } else if (source_->Peek() == '"') {
      source_->Get();
      field->text.push_back('"');
    } else {
      break;
    }
  }
  if (!AtLineEnd() && source_->Peek() != ',') {
    record->fault = absl::StrCat("field ", record->fields.size(),
                                 " has text after its closing quote");
  }
  return absl::OkStatus();
}

bool CsvReader::AtLineEnd() {
  const int byte = source_->Peek();
  if (byte == '\r') return source_->PeekSecond() == '\n';
  return byte == '\n' || byte == ByteSource::kEnd;
}

bool CsvReader::TakeLineEnd() {
  if (!AtLineEnd() || source_->Peek() == ByteSource::kEnd) return false;
  if (source_->Get() == '\r') source_->Get();
  return true;
}

void CsvReader::SkipLine() {
  while (!AtLineEnd()) source_->Get();
}

}  // namespace casement::tool
