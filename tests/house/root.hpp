#pragma once

#include <filesystem>

inline const std::filesystem::path kRoot = TESSERA_SOURCE_DIR;
