// --finality: words to enum values.

#ifndef CASEMENT_CLIENT_TOOL_FINALITY_FLAG_H_
#define CASEMENT_CLIENT_TOOL_FINALITY_FLAG_H_

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "casement/v1/result.pb.h"

namespace casement::tool {

// The words that --finality takes; the command line has checked them.
inline const std::vector<std::string>& FinalityWords() {
  static const auto& words = *new std::vector<std::string>{
      "provisional", "final", "corrected", "retracted"};
  return words;
}

inline std::vector<v1::Finality> Finalities(
    const std::vector<std::string>& words) {
  std::vector<v1::Finality> finalities;
  for (const std::string& word : words) {
    v1::Finality finality = v1::FINALITY_UNSPECIFIED;
    v1::Finality_Parse(absl::StrCat("FINALITY_", absl::AsciiStrToUpper(word)),
                       &finality);
    finalities.push_back(finality);
  }
  return finalities;
}

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_FINALITY_FLAG_H_
