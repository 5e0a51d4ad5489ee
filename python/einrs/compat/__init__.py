"""The private names of einops, for programs that import them; nothing else of einrs needs them.

`einrs.einops`, `.parsing`, `.packing`, `.array_api`, `._backends` and `._torch_specific` hand on
what stands here under the names that einops 0.8.2 has:

- `expressions.py`: one side of a pattern as einops' `ParsedExpression`;
- `recipes.py`: a pattern to einops' `TransformRecipe`, and what einops does with one;
- `scripted.py`: the same in the part of Python that TorchScript compiles;
- `collapse.py`: the joining of neighbouring axes that einops once used;
- `patterns.py`: patterns of einsum and pack to what einops' helpers say of them;
- `abstract.py`: the class that a program derives its own backend from;
- `backends.py`, `small_backends.py`: einops' backends, one class for each framework;
- `adapter.py`: a backend of the program's own to a framework of einrs, and a tensor to its backend;
- `standard.py`: the operations for arrays of the array API standard.

`import einrs` loads none of it.
"""
