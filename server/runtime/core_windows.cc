// Listings of windows: final rows from the store, open windows from the state
// machine.
#include <algorithm>
#include <utility>

#include "server/engine/error.h"
#include "server/runtime/core.h"
#include "server/runtime/errors.h"
#include "state/result_reader.h"

namespace casement::runtime {

// A page in the making. A listing's first page reads the open windows first,
// at some version, and then the rows up to that version: so no window is
// missing because it closed in between. Later pages read rows up to the same
// version, and open windows as they then are.
struct Core::Listing {
  EntryPtr entry;
  std::shared_ptr<const PublishedView> view;
  ListWindowsQuery query;
  Done<WindowPage> done;

  WindowPage page;
  size_t bytes = 0;
  engine::Version rows_version = 0;
  bool rows_done = false;

  bool has_open = false;  // `open` and `open_progress` were read
  std::vector<engine::Result> open;
  engine::Progress open_progress;

  bool Full() const {
    return page.results.size() >= static_cast<size_t>(query.max_results) ||
           (!page.results.empty() && bytes >= query.max_bytes);
  }
};

namespace {

// About what a result takes on the wire.
size_t SizeOf(const engine::Result& result) {
  return 96 + result.key.size() + 32 * result.values.size();
}

}  // namespace

void Core::ListWindows(const std::string& stream, const std::string& view,
                       ListWindowsQuery query, std::function<bool()> cancelled,
                       Done<WindowPage> done) {
  auto listing = std::make_shared<Listing>();
  listing->entry = Find(stream);
  if (listing->entry == nullptr) {
    done(engine::NoSuchResource(StreamName(stream)));
    return;
  }
  if (!listing->entry->broken.ok()) {
    done(listing->entry->broken);
    return;
  }
  listing->view = listing->entry->head->FindView(view);
  if (listing->view == nullptr) {
    done(engine::NoSuchResource(ViewName(stream, view)));
    return;
  }
  listing->query = std::move(query);
  listing->done = std::move(done);
  listing->page.view = listing->view->definition;
  listing->rows_version = listing->query.after.rows_version;
  listing->rows_done =
      listing->query.after.in_open || !listing->query.final_rows;
  listing->entry->head->WaitForVersion(
      listing->query.min_version, std::move(cancelled),
      [this, listing](const absl::Status& status) {
        if (!status.ok()) {
          listing->done(status);
          return;
        }
        const bool open_first =
            listing->query.open_windows &&
            (listing->rows_done || listing->rows_version == 0);
        const auto rows = [this](std::shared_ptr<Listing> ready) {
          ReadRows(std::move(ready));
        };
        if (open_first) {
          ReadOpenWindows(listing, rows);
        } else {
          rows(listing);
        }
      });
}

void Core::ReadOpenWindows(std::shared_ptr<Listing> listing,
                           std::function<void(std::shared_ptr<Listing>)> next) {
  const std::string stream = listing->entry->id();
  OnEngine(
      stream,
      [this, listing, next = std::move(next)](const EntryPtr& entry) {
        engine::OpenWindowPosition after;
        if (listing->query.after.in_open) {
          after.closing_time = listing->query.after.closing_time;
          after.start = listing->query.after.start;
          after.key = listing->query.after.key;
        }
        if (entry->stream->FindView(listing->view->number).has_value()) {
          listing->open = entry->stream->OpenWindows(
              listing->view->number, after, listing->query.max_results + 1);
        }
        listing->open_progress = entry->stream->progress();
        listing->has_open = true;
        WhenPublished([listing, next](const absl::Status& status) {
          if (status.ok()) {
            next(listing);
          } else {
            listing->done(status);
          }
        });
      },
      [listing](absl::Status status) { listing->done(std::move(status)); });
}

void Core::ReadRows(std::shared_ptr<Listing> listing) {
  readers_->Post([this, listing](const absl::Status& status) {
    const absl::Status head = listing->entry->head->status();
    if (!status.ok() || !head.ok()) {
      listing->done(status.ok() ? head : status);
      return;
    }
    const engine::Progress published = listing->entry->head->progress();
    listing->page.progress =
        listing->has_open ? listing->open_progress : published;
    if (listing->rows_version == 0) {
      listing->rows_version = listing->page.progress.version;
    }
    if (!listing->rows_done) {
      const WindowListPosition& after = listing->query.after;
      state::RowCursor cursor(*store_, listing->entry->number,
                              listing->view->number);
      if (after.rows_version == 0) {
        cursor.SeekToFirst();
      } else {
        cursor.SeekAfter(after.closing_time, after.start, after.key);
      }
      for (; cursor.Valid() && !listing->Full(); cursor.Next()) {
        auto row = engine::DecodeRow(cursor.row());
        if (!row.ok()) {
          listing->done(FromStore(row.status()));
          return;
        }
        if (row->version > listing->rows_version) continue;
        listing->bytes += cursor.row().size();
        listing->page.results.push_back(*std::move(row));
      }
      if (!cursor.status().ok()) {
        listing->done(FromStore(cursor.status()));
        return;
      }
      listing->rows_done = !cursor.Valid();
    }
    // A listing that comes to the open windows on a later page reads them now.
    if (listing->rows_done && listing->query.open_windows &&
        !listing->has_open && !listing->Full()) {
      ReadOpenWindows(listing, [this](std::shared_ptr<Listing> ready) {
        ready->page.progress = ready->open_progress;
        FinishListing(ready);
      });
      return;
    }
    FinishListing(listing);
  });
}

void Core::FinishListing(const std::shared_ptr<Listing>& listing) {
  if (listing->view->deleted) {
    listing->done(engine::NoSuchResource(
        ViewName(listing->entry->id(), listing->view->definition.id)));
    return;
  }
  WindowPage& page = listing->page;
  WindowListPosition next;
  next.rows_version = listing->rows_version;
  // Where the page ends, if it doesn't get to the open windows.
  bool more = !listing->rows_done;
  if (!page.results.empty()) {
    next.closing_time = page.results.back().closing_time;
    next.start = page.results.back().window.start;
    next.key = page.results.back().key;
  }
  if (listing->rows_done && listing->query.open_windows) {
    next.in_open = true;
    more = !listing->has_open;
    next.closing_time = listing->query.after.in_open
                            ? listing->query.after.closing_time
                            : engine::kNoWatermark;
    next.start = listing->query.after.in_open ? listing->query.after.start
                                              : engine::kNoWatermark;
    next.key = listing->query.after.in_open ? listing->query.after.key : "";
    for (engine::Result& result : listing->open) {
      if (listing->Full()) {
        more = true;
        break;
      }
      listing->bytes += SizeOf(result);
      next.closing_time = result.closing_time;
      next.start = result.window.start;
      next.key = result.key;
      page.results.push_back(std::move(result));
    }
  }
  if (more) page.next = std::move(next);
  listing->done(std::move(page));
}

}  // namespace casement::runtime
