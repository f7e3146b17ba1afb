// A case's pipeline as the API has it: the stream and the view to create.

#ifndef CASEMENT_TESTS_CONFORMANCE_DEFINITION_H_
#define CASEMENT_TESTS_CONFORMANCE_DEFINITION_H_

#include <map>
#include <string>
#include <vector>

#include "casement/v1/definition.pb.h"
#include "tests/conformance/pipeline.h"

namespace casement::conformance {

// What the fields and aggregates of a case are called in the API: as in the
// case, where the API allows that name. The key is a field of its own.
class ApiNames {
 public:
  explicit ApiNames(const Pipeline& pipeline);

  // A field that the case does not declare keeps its name.
  std::string OfField(const std::string& field) const;
  // Aggregates of one name keep to have one name.
  std::string OfAggregate(const std::string& name) const;
  const std::string& key() const { return key_; }

 private:
  std::map<std::string, std::string> fields_;
  std::map<std::string, std::string> aggregates_;
  std::string key_;
};

// `source_ids` are the producers that stand for the pipeline's sources.
v1::Stream MakeStream(const Pipeline& pipeline, const ApiNames& names,
                      const std::vector<std::string>& source_ids);
v1::View MakeView(const Pipeline& pipeline, const ApiNames& names);

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_DEFINITION_H_
