# What `cmake --install` and the Debian package put where: the program, the catalogue it reads
# (found beside the program as ../share/fabricast/catalog), the examples and the documents.

install(TARGETS fabricast RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET fabricast_mpi)
  install(TARGETS fabricast_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/fabricast COMPONENT mpi)
endif()
install(DIRECTORY catalog/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fabricast/catalog
        FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
# What `validate --kind article` runs and reads.
install(DIRECTORY examples/article DESTINATION ${CMAKE_INSTALL_DATADIR}/fabricast/examples)
install(DIRECTORY validation/article DESTINATION ${CMAKE_INSTALL_DATADIR}/fabricast/validation)
install(FILES README.md README.zh.md CHANGELOG.md docs/result.schema.json docs/train.schema.json
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fabricast)
set(CPACK_PACKAGE_VENDOR "The Fabricast authors")
set(CPACK_PACKAGE_CONTACT "The Fabricast authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The module is a package of its own, so that the program does not bring Open MPI with it.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME fabricast)
set(CPACK_DEBIAN_MPI_PACKAGE_NAME fabricast-mpi)
set(CPACK_DEBIAN_MPI_DESCRIPTION "Spreads sweeps of fabricast over the ranks of an Open MPI job")
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "fabricast (= ${PROJECT_VERSION})")
include(CPack)
