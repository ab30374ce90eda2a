#include "cli.h"
namespace aerogel::cli {
CLI::App* add_run(CLI::App& app, int&) { return app.add_subcommand("run"); }
}
