"""Turns programs that swap einops for einrs, each in a process of its own, into checks of the swap.

A program fails by an assertion, by a warning that it does not expect, and by any other output.
"""

import textwrap

import pytest

import fresh

INSTALL = """
import einrs, importlib, importlib.util, sys, threading
einrs.install()
import einops
"""

SWAPPED = {
    "the public names": """
        for name in einops.__all__:
            assert getattr(einops, name) is getattr(einrs, name), name
        from einops import rearrange, EinopsError
        assert rearrange is einrs.rearrange
        assert EinopsError is einrs.EinopsError
        """,
    "a star import": """
        from einops import *
        assert pack is einrs.pack
        assert "cache_info" not in globals()
        """,
    "the version is that of einops": """
        import importlib.metadata
        assert einops.__version__ == importlib.metadata.version("einops")
        assert einrs.__version__ == importlib.metadata.version("einrs")
        """,
    "each module keeps its own name": """
        assert einops.__name__ == einops.__spec__.name == einops.__package__ == "einops"
        assert einrs.__name__ == einrs.__spec__.name == einrs.__package__ == "einrs"
        """,
    "a second call does nothing": """
        finders = list(sys.meta_path)
        einrs.install()
        assert sys.modules["einops"] is einops
        assert sys.meta_path == finders
        """,
    "a submodule is the very module of einrs": """
        import einops.parsing as below_einops, einrs.parsing as below_einrs
        from einops import parsing
        from einops.parsing import ParsedExpression
        assert below_einops is below_einrs is parsing
        assert ParsedExpression is below_einrs.ParsedExpression
        assert below_einrs.__spec__.name == below_einrs.__name__ == "einrs.parsing"
        """,
    "a submodule that is loaded already": """
        import einrs.parsing
        spec = einrs.parsing.__spec__
        import einops.parsing
        assert einops.parsing is einrs.parsing
        assert einrs.parsing.__spec__ is spec
        """,
    "a submodule is an attribute without an import": """
        assert einops.layers is sys.modules["einrs.layers"] is sys.modules["einops.layers"]
        assert einops.einops.rearrange is einrs.rearrange
        assert einops._backends.__name__ == "einrs._backends"
        """,
    "a name that nobody has": """
        for name in ("rearange", "__wrapped__", "__main__", "no.thing", ""):
            assert not hasattr(einops, name), name
        try:
            einops.rearange
        except AttributeError as error:
            assert str(error) == "module 'einops' has no attribute 'rearange'", error
            assert (error.name, error.obj) == ("rearange", einops)
        """,
    "a module that nobody has": """
        for name in ("einops.nothing", "einops.layers.nothing", "einops.parsing.nothing"):
            try:
                importlib.import_module(name)
            except ModuleNotFoundError as error:
                assert str(error).startswith(f"No module named '{name}'"), error
                assert error.name == name
            else:
                raise AssertionError(name)
        assert importlib.util.find_spec("einops.nothing") is None
        """,
    "find_spec, loaded or not": """
        assert importlib.util.find_spec("einops") is einops.__spec__
        for name in ("einops._backends", "einops.layers.torch", "einops.layers"):
            spec = importlib.util.find_spec(name)
            assert spec.origin.startswith(einrs.__path__[0]), spec
        assert "einops.layers.torch" not in sys.modules
        import einops._backends
        assert importlib.util.find_spec("einops._backends") is einops._backends.__spec__
        """,
    "reload": """
        import einops.parsing
        del einops.rearrange
        assert importlib.reload(einops) is einops
        assert einops.rearrange is einrs.rearrange
        assert importlib.reload(einops.parsing) is sys.modules["einrs.parsing"]
        """,
    "an import after the name was deleted": """
        del sys.modules["einops"]
        import einops as again
        assert again is not einops
        assert again.rearrange is einrs.rearrange
        """,
    "what was pickled under einops' names": """
        import pickle
        error = pickle.loads(b"ceinops\\nEinopsError\\n(Vno\\ntR.")
        assert type(error) is einrs.EinopsError
        assert error.args == ("no",)
        assert pickle.loads(b"ceinops.einops\\nrearrange\\n.") is einrs.rearrange
        """,
    "what is pickled now loads with and without the swap": """
        import pickle
        saved = pickle.dumps([einops.rearrange, einops.EinopsError])
        einrs.uninstall()
        assert pickle.loads(saved) == [einrs.rearrange, einrs.EinopsError]
        """,
    "what a program sets in einops stays there": """
        ours = einrs.rearrange
        einops.rearrange = len
        assert einrs.rearrange is ours
        assert einops.rearrange is len
        """,
    "nothing is imported before it is asked for": """
        assert not [name for name in sys.modules if name.startswith("einops.")]
        private = {"einrs.compat", "einrs.einops", "einrs.layers", "einrs.parsing"}
        assert not set(sys.modules) & {"numpy", "torch", "jax", "tensorflow", *private}
        """,
    "einops' own tests": """
        import einops.tests
        assert einops.tests.__name__ == "einops.tests"
        assert not einops.tests.__file__.startswith(einrs.__path__[0])
        assert einops.tests._backends is sys.modules["einrs._backends"]
        """,
    "many threads import at once": """
        start, found = threading.Barrier(8), []
        def work():
            start.wait()
            import einops.layers as layers
            from einops.parsing import ParsedExpression
            einrs.install()
            found.append((layers, ParsedExpression))
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        import einrs.parsing
        assert found == [(einrs.layers, einrs.parsing.ParsedExpression)] * 8
        """,
    "uninstall": """
        import einops.parsing
        einrs.uninstall()
        assert not [name for name in sys.modules if name.partition(".")[0] == "einops"]
        import einops as real, einops.parsing
        assert real is not einops or real.rearrange is not einrs.rearrange
        assert real.__file__ != einrs.__file__
        assert not hasattr(real, "cache_info")
        assert einops.parsing is not einrs.parsing
        """,
    "uninstall leaves the finders of others": """
        mine = type(sys)("finder")
        mine.find_spec = lambda name, path=None, target=None: None
        sys.meta_path.append(mine)
        einrs.uninstall()
        assert sys.meta_path[-1] is mine
        assert not [x for x in sys.meta_path if type(x).__module__ == "einrs._swap"]
        einrs.uninstall()
        """,
    "install, uninstall, install": """
        einrs.uninstall()
        einrs.install()
        import einops as again
        assert again.rearrange is einrs.rearrange
        einrs.uninstall()
        """,
    "a forbidden einops is forbidden again": """
        einrs.uninstall()
        sys.modules["einops"] = None
        einrs.install()
        import einops as again
        assert again.rearrange is einrs.rearrange
        einrs.uninstall()
        assert sys.modules["einops"] is None
        """,
}

LATE = """
import einrs, importlib, sys, warnings
import einops, einops.array_api, einops.packing
from einops import rearrange as bound_before
before = {name: dict(vars(sys.modules[name])) for name in sys.modules if name[:6] == "einops"}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    einrs.install()
"""

PATCHED = {
    "it warns once, at the caller's line": """
        assert [type(x.message) for x in caught] == [UserWarning]
        assert "einops was imported before einrs.install()" in str(caught[0].message)
        assert caught[0].filename == "<string>"
        einrs.install()
        """,
    "what is looked up is einrs'": """
        import einrs.array_api
        for name in einops.__all__:
            assert getattr(einops, name) is getattr(einrs, name), name
        assert einops.einops.rearrange is einrs.rearrange
        assert einops.packing.pack is einrs.pack
        assert einops.array_api.rearrange is einrs.array_api.rearrange
        assert einops.parsing.EinopsError is einrs.EinopsError
        """,
    "a name bound before still works": """
        import numpy
        assert bound_before is not einrs.rearrange
        assert bound_before(numpy.zeros((2, 3)), "a b -> b a").shape == (3, 2)
        """,
    "a submodule imported later is einrs'": """
        assert "einops.layers" not in before
        import einops.layers
        assert einops.layers is sys.modules["einrs.layers"]
        """,
    "an einops too old for a function gets it": """
        einrs.uninstall()
        del einops.pack
        einops.__version__ = "0.5.0"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            einrs.install()
        assert einops.pack is einrs.pack
        assert einops.__version__ == "0.8.2"
        einrs.uninstall()
        assert not hasattr(einops, "pack")
        assert einops.__version__ == "0.5.0"
        """,
    "uninstall restores everything": """
        import einops.layers, einops.tests
        einrs.uninstall()
        assert {name for name in sys.modules if name[:6] == "einops"} == set(before)
        for name, names in before.items():
            assert vars(sys.modules[name]) == names, name
        """,
    "uninstall leaves what the program has set since": """
        einops.rearrange = len
        einrs.uninstall()
        assert einops.rearrange is len
        """,
    "a reload keeps the functions": """
        importlib.reload(einops)
        assert einops.rearrange is einrs.rearrange
        assert einops.__file__ == before["einops"]["__file__"]
        assert not hasattr(einops, "cache_info")
        """,
}


@pytest.mark.parametrize("program", SWAPPED.values(), ids=SWAPPED)
def test_install(program: str) -> None:
    assert fresh.run(INSTALL + textwrap.dedent(program)) == ""


@pytest.mark.parametrize("program", PATCHED.values(), ids=PATCHED)
def test_install_after_einops(program: str) -> None:
    assert fresh.run(LATE + textwrap.dedent(program)) == ""


def test_the_warning_as_an_error_leaves_everything_as_it_was() -> None:
    program = """
        import einops, einrs, sys
        before = dict(vars(einops))
        finders = list(sys.meta_path)
        try:
            einrs.install()
        except UserWarning:
            print("refused")
        assert vars(einops) == before
        assert sys.meta_path == finders
        """
    assert fresh.run(program) == "refused\n"


def test_importing_einrs_swaps_nothing() -> None:
    program = """
        import sys
        finders = list(sys.meta_path)
        import einrs
        assert not [x for x in sys.meta_path if type(x).__module__ == "einrs._swap"]
        assert "einops" not in sys.modules
        einrs.uninstall()
        """
    assert fresh.run(program) == ""
