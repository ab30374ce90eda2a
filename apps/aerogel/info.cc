#include "cli.h"
namespace aerogel::cli {
CLI::App* add_info(CLI::App& app, int&) { return app.add_subcommand("info"); }
}  // namespace aerogel::cli
