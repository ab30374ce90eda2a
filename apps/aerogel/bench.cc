#include "cli.h"
namespace aerogel::cli {
CLI::App* add_bench(CLI::App& app, int&) { return app.add_subcommand("bench"); }
}  // namespace aerogel::cli
