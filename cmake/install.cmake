# `find_package(aerogel)` for consumers: headers, library, exported target.
include(CMakePackageConfigHelpers)
install(TARGETS aerogel EXPORT aerogel-targets)
install(DIRECTORY include/aerogel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT aerogel-targets NAMESPACE aerogel:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/aerogel)
configure_package_config_file(cmake/aerogel-config.cmake.in ${PROJECT_BINARY_DIR}/aerogel-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/aerogel)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/aerogel-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/aerogel-config.cmake ${PROJECT_BINARY_DIR}/aerogel-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/aerogel)
