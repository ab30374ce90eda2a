// Checkpoints as torch.save writes them, for the two targets that read them.
#pragma once

#include <string>

inline std::string pickled_text(const std::string& text) {
  return std::string{'X', static_cast<char>(text.size()), '\0', '\0', '\0'} + text;
}

/// A dictionary with a strided tensor, a parameter of the same storage, and plain values.
inline std::string pickled_state_dict(bool old) {
  const std::string view = old ? "N" : "";
  const std::string storage = "(" + pickled_text("storage") + "ctorch\nFloatStorage\nq\1" +
                              pickled_text("0") + pickled_text("cpu") + "K\6" + view + "tQ";
  const std::string ordered = "ccollections\nOrderedDict\n)R";
  const std::string tensor = "ctorch._utils\n_rebuild_tensor_v2\n((" + storage.substr(1) + "K" +
                             std::string(1, '\0') + "K\3K\2\x86K\1K\3\x86\x89" + ordered + "tR";
  return "\x80\2}q" + std::string(1, '\0') + "(" + pickled_text("epoch") + "M\1\1" +
         pickled_text("state_dict") + ordered + "q\2" + pickled_text("w") + tensor + "s" + pickled_text("b") +
         "ctorch._utils\n_rebuild_parameter\n" + tensor + "\x88" + ordered + "\x87R" + "s}" +
         pickled_text("_metadata") + ordered + "sb" + pickled_text("lr") + "G12345678" +
         pickled_text("list") + "](K\1N\x88" + "e" + "u.";
}
