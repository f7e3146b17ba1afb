#include "client/event.h"

namespace casement::client {
namespace {

// A length-delimited map entry with two tags and lengths, and the Value
// inside it with its own.
constexpr int64_t kFieldOverhead = 32;
constexpr int64_t kEventOverhead = 40;

bool SetRowValue(const Value& value, v1::Value* out) {
  struct Setter {
    v1::Value* out;
    bool operator()(std::monostate) const { return true; }
    bool operator()(int64_t v) const { return out->set_int64_value(v), true; }
    bool operator()(double v) const { return out->set_double_value(v), true; }
    bool operator()(bool v) const { return out->set_bool_value(v), true; }
    bool operator()(const std::string& v) const {
      if (!IsUtf8(v)) return false;
      out->set_string_value(v);
      return true;
    }
    bool operator()(const Bytes& v) const {
      out->set_bytes_value(v.data);
      return true;
    }
  };
  return std::visit(Setter{out}, value);
}

int64_t ValueBytes(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return text->size();
  if (const auto* bytes = std::get_if<Bytes>(&value)) return bytes->data.size();
  return 0;
}

}  // namespace

Event::Event(absl::Time time) : time_us_(absl::ToUnixMicros(time)) {}

Event Event::AtMicros(int64_t time_us) {
  Event event;
  event.time_us_ = time_us;
  return event;
}

Event& Event::Set(absl::string_view field, Value value) {
  for (auto& [name, old] : fields_) {
    if (name == field) {
      old = std::move(value);
      return *this;
    }
  }
  fields_.emplace_back(std::string(field), std::move(value));
  return *this;
}

Event& Event::SetId(std::string id) {
  id_ = std::move(id);
  return *this;
}

Event& Event::SetTag(int64_t tag) {
  tag_ = tag;
  return *this;
}

bool ToRow(const Event& event, v1::Event* row) {
  if (event.time_us())
    *row->mutable_event_time() = ToTimestamp(*event.time_us());
  if (!IsUtf8(event.id())) return false;
  row->set_event_id(event.id());
  for (const auto& [name, value] : event.fields()) {
    if (!IsUtf8(name)) return false;
    if (!SetRowValue(value, &(*row->mutable_fields())[name])) return false;
  }
  return true;
}

int64_t MaxRowBytes(const Event& event) {
  int64_t bytes = kEventOverhead + event.id().size();
  for (const auto& [name, value] : event.fields()) {
    bytes += kFieldOverhead + name.size() + ValueBytes(value);
  }
  return bytes;
}

bool IsUtf8(absl::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned char* const end = at + text.size();
  while (at < end) {
    const unsigned char lead = *at++;
    if (lead < 0x80) continue;
    int more = 0;
    // The bounds of the byte after the lead keep out overlong forms,
    // surrogates and what lies beyond U+10FFFF.
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
      more = 1;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      more = 2;
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      more = 3;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    } else {
      return false;
    }
    for (; more > 0; --more) {
      if (at == end || *at < low || *at > high) return false;
      ++at;
      low = 0x80;
      high = 0xBF;
    }
  }
  return true;
}

google::protobuf::Timestamp ToTimestamp(int64_t time_us) {
  constexpr int64_t kMicros = 1'000'000;
  int64_t seconds = time_us / kMicros;
  int64_t micros = time_us % kMicros;
  if (micros < 0) {
    micros += kMicros;
    --seconds;
  }
  google::protobuf::Timestamp timestamp;
  timestamp.set_seconds(seconds);
  timestamp.set_nanos(static_cast<int32_t>(micros * 1000));
  return timestamp;
}

google::protobuf::Timestamp ToTimestamp(absl::Time time) {
  return ToTimestamp(absl::ToUnixMicros(time));
}

}  // namespace casement::client
