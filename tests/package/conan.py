"""Reads a conanfile with a stand-in for conan, and prints the version that it would give."""
import importlib.util
import sys
import types
from pathlib import Path

sys.dont_write_bytecode = True


def stand_in(name, **members):
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


stand_in("conan", ConanFile=object)
stand_in("conan.tools")
stand_in("conan.tools.files", copy=None, load=lambda recipe, path: Path(path).read_text(encoding="utf-8"))

path = Path(sys.argv[1]).resolve()
spec = importlib.util.spec_from_file_location("conanfile", path)
conanfile = importlib.util.module_from_spec(spec)
spec.loader.exec_module(conanfile)

recipe = conanfile.Weir()
recipe.recipe_folder = str(path.parent)
recipe.set_version()
print(recipe.version)
