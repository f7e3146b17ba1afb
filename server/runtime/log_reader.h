// The way of one subscriber through a view's result log: see runtime.h. It
// reads the store on the reader threads only, so the store may go away (after a
// failed write, or at a drain) while readers live on: they are then told so.
#ifndef CASEMENT_SERVER_RUNTIME_LOG_READER_H_
#define CASEMENT_SERVER_RUNTIME_LOG_READER_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "server/runtime/executor.h"
#include "server/runtime/runtime.h"
#include "server/runtime/stream_head.h"
#include "state/store.h"

namespace casement::runtime {

class StoreLogReader : public LogReader,
                       public HeadWaiter,
                       public std::enable_shared_from_this<StoreLogReader> {
 public:
  // `store` is there as long as `readers` runs tasks with OK.
  StoreLogReader(LogIdentity identity, std::shared_ptr<StreamHead> head,
                 std::shared_ptr<const PublishedView> view,
                 std::string stream_id, LogPosition start,
                 FinalityFilter filter, std::shared_ptr<Executor> readers,
                 const state::Store* store);

  const LogIdentity& identity() const override { return identity_; }
  const engine::ViewDefinition& view() const override {
    return view_->definition;
  }
  engine::Progress head_progress() const override { return head_->progress(); }
  LogPosition position() const override;
  void Next(size_t max_bytes, Done<LogChunk> done) override;
  void WakeOnNews(std::function<void()> wake) override;

  void Moved() override;

 private:
  absl::StatusOr<LogChunk> Read(size_t max_bytes) const;
  bool Passes(engine::Finality finality,
              engine::Finality retracted_finality) const;
  // Fires the wake if there is news, or else sees to it that Moved comes.
  void WakeIfNews();

  const LogIdentity identity_;
  const std::shared_ptr<StreamHead> head_;
  const std::shared_ptr<const PublishedView> view_;
  const std::string stream_id_;
  const FinalityFilter filter_;
  const std::shared_ptr<Executor> readers_;
  const state::Store* const store_;

  // Held while a wake runs, so that a replaced one is over when WakeOnNews
  // returns. Taken before position_mutex_ and before the head's lock.
  std::mutex wake_mutex_;
  std::function<void()> wake_;
  bool waiting_ = false;  // in the head's list

  mutable std::mutex position_mutex_;
  LogPosition position_;
};

}  // namespace casement::runtime

#endif  // CASEMENT_SERVER_RUNTIME_LOG_READER_H_
