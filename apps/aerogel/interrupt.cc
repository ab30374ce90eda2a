#include <csignal>

#include "cli.h"

namespace aerogel::cli {

namespace {
volatile std::sig_atomic_t requested = 0;
}

void request_interrupt() noexcept { requested = 1; }

void throw_if_interrupted() {
  if (requested != 0) throw Interrupted{};
}

}  // namespace aerogel::cli
