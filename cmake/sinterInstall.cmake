# cmake --install: the headers, and a package that find_package(sinter) reads. Nothing here depends on the machine.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_DATADIR}/cmake/sinter)

install(TARGETS sinter EXPORT sinterExports)
install(EXPORT sinterExports NAMESPACE sinter:: DESTINATION ${package})
install(DIRECTORY include/sinter TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sinterConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES cmake/sinterConfig.cmake cmake/sinterDependencies.cmake ${PROJECT_BINARY_DIR}/sinterConfigVersion.cmake
        DESTINATION ${package})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/sinter)
