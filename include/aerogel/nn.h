// Modules that hold weights, and the networks built from them.
#pragma once
