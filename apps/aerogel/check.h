// `aerogel check DIR…`: recorded cases against every backend.
#pragma once

namespace CLI {
class App;
}

namespace aerogel::cli {

/// Adds the subcommand; `exit_code` is set when it runs. The caller maps what it throws to an exit code.
CLI::App* add_check(CLI::App& app, int& exit_code);

}  // namespace aerogel::cli
