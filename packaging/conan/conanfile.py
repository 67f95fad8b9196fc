# Checked for syntax only: tests/package reads it with a stand-in for conan, no conan has.
# A recipe of the tree that it stands in: conan create packaging/conan
# pylint: disable=attribute-defined-outside-init,no-member
import re
from pathlib import Path

from conan import ConanFile
from conan.tools.files import copy, load


class Weir(ConanFile):
    name = "weir"
    description = "Synchronizers for asynchronous C++"
    license = "BSL-1.0"
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    @property
    def tree(self):
        return Path(self.recipe_folder).parents[1]

    def set_version(self):
        header = load(self, self.tree / "include" / "weir" / "version.hpp")
        self.version = ".".join(re.findall(r"define WEIR_VERSION_\w+ (\d+)", header))

    def export_sources(self):
        for what in ("include/*", "LICENSE"):
            copy(self, what, src=self.tree, dst=self.export_sources_folder)

    def package(self):
        copy(self, "include/*", src=self.source_folder, dst=self.package_folder)
        copy(self, "LICENSE", src=self.source_folder, dst=Path(self.package_folder) / "licenses")

    def package_id(self):
        self.info.clear()

    def package_info(self):
        for name in ("weir", "asio", "boost_asio"):
            part = self.cpp_info.components[name]
            part.set_property("cmake_target_name", f"weir::{name}")
            part.bindirs = part.libdirs = []
            if name != "weir":
                part.requires = ["weir"]
            elif self.settings.os == "Linux":
                part.system_libs = ["pthread", "dl"]
