#include "cli.h"
namespace aerogel::cli {
CLI::App* add_compare(CLI::App& app, int&) { return app.add_subcommand("compare"); }
}  // namespace aerogel::cli
