"""Describes the variables of an IPython kernel without running user code. Pure.

The probe travels as one user expression of a silent request with empty code: no history, no
execution count, no `_`, no name left behind. It runs in a namespace of its own without any
builtins, so nothing that a user can rebind is used; it reaches types through literals. The rules
that keep its text from running user code are in kernel_probe_text.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ...errors import KernelUnavailable, ToolError
from ..base import Variable
from .kernel_probe_text import PROBE

KEY = "vitto"
_MAX_VARIABLES = 200

# Names for the probe, each reached from a literal. `native` looks among the classes that came
# first, before any user's: their names are read in C.
_NAMES = r"""{
  # C code of libraries imports through the caller's builtins; the probe's text uses none.
  '__builtins__': {'__import__': builtin('__import__')}, '__name__': 'vitto',
  'namespace': (lambda: 0).__globals__, 'wanted': WANTED, 'most': MOST, 'modules': modules,
  'type_of': type, 'str': ''.__class__, 'bytes': b''.__class__,
  'int': (0).__class__, 'bool': (0 == 0).__class__, 'float': (0.0).__class__,
  'complex': 0j.__class__, 'list': [].__class__, 'tuple': ().__class__, 'dict': {}.__class__,
  'set': {0}.__class__, 'frozenset': native(object, 'frozenset'),
  'none_type': None.__class__, 'range_type': native(object, 'range'),
  'function_type': (lambda: 0).__class__, 'module_type': native(object, 'module'),
  'failure': native(native(object, 'BaseException'), 'Exception'),
  'native_getset': type.__dict__['__dict__'].__class__,
  'native_member': (lambda: 0).__class__.__dict__['__globals__'].__class__,
  'native_descriptors': (
    type.__dict__['__dict__'].__class__,
    (lambda: 0).__class__.__dict__['__globals__'].__class__,
    ''.__class__.__dict__['join'].__class__, object.__dict__['__init__'].__class__,
  ),
  'str_len': ''.__class__.__len__, 'str_repr': ''.__class__.__repr__,
  'bytes_len': b''.__class__.__len__, 'bytes_repr': b''.__class__.__repr__,
  'int_repr': (0).__class__.__repr__, 'int_bits': (0).__class__.bit_length,
  'float_repr': (0.0).__class__.__repr__, 'complex_repr': 0j.__class__.__repr__,
  'list_len': [].__class__.__len__, 'list_append': [].__class__.append,
  'list_repr': [].__class__.__repr__, 'list_of': [].__class__, 'list_iter': [].__class__.__iter__,
  'tuple_len': ().__class__.__len__, 'tuple_iter': ().__class__.__iter__,
  'set_len': {0}.__class__.__len__, 'set_iter': {0}.__class__.__iter__,
  'frozenset_len': native(object, 'frozenset').__len__,
  'frozenset_iter': native(object, 'frozenset').__iter__,
  'range_len': native(object, 'range').__len__, 'dict_len': {}.__class__.__len__,
  'dict_get': {}.__class__.get, 'dict_items': {}.__class__.items,
  'dict_keys': {}.__class__.__iter__, 'dict_iter': {}.items().__class__.__iter__,
  'type_name': type.__dict__['__qualname__'].__get__,
  'type_module': type.__dict__['__module__'].__get__,
  'type_mro': type.__dict__['__mro__'].__get__, 'type_flags': type.__dict__['__flags__'].__get__,
  'class_dict': type.__dict__['__dict__'].__get__,
  'module_dict': dict_of,
  'function_code': (lambda: 0).__class__.__dict__['__code__'].__get__,
  'proxy_get': type.__dict__.__class__.get, 'proxy_iter': type.__dict__.__class__.__iter__,
}"""

_EXPRESSION = """
(lambda type, object: (lambda native: (lambda dict_of, importer: (lambda modules: (lambda builtin:
  (lambda names: (builtin('exec')(PROBE, names), names['result'])[1])(NAMES)
)(
  # what stands under the name is only taken when it is the function itself
  lambda name: (lambda found: {True: found}[
    type(found) is type([].append) and found.__name__ == name
  ])(dict_of({}.__class__.__getitem__(modules, 'builtins'))[name])
))(
  dict_of((lambda: 0).__class__.__dict__['__globals__'].__get__(
    native(object, 'classmethod').__dict__['__func__'].__get__(importer['find_spec'])
  )['sys'])['modules']
))(
  native(object, 'module').__dict__['__dict__'].__get__,
  type.__dict__['__dict__'].__get__(native(object, 'BuiltinImporter')),
))(
  lambda base, name: (
    kind for kind in type.__dict__['__subclasses__'](base)
    if type.__dict__['__name__'].__get__(kind) == name
  ).__next__()
))(().__class__.__class__, ().__class__.__base__)
"""


def expression(names: Sequence[str]) -> str:
    """The user expression that describes `names`, or all user variables when empty.

    Args:
        names: Identifiers; they go in as data.
    """
    wanted = repr(tuple(str(name) for name in names))
    filled = _NAMES.replace("WANTED", wanted).replace("MOST", str(_MAX_VARIABLES))
    return _EXPRESSION.strip().replace("NAMES", filled).replace("PROBE", repr(PROBE))


def variables_from(reply: dict[str, Any]) -> tuple[Variable, ...]:
    """The variables in an execute reply, sorted by name.

    Raises:
        ToolError: the kernel could not run the probe.
        KernelUnavailable: the request itself failed.
    """
    if reply.get("status") != "ok":
        raise KernelUnavailable("The kernel refused to describe its variables.")
    found = (reply.get("user_expressions") or {}).get(KEY) or {}
    if found.get("status") != "ok":
        reason = f"{found.get('ename', '')}: {found.get('evalue', '')}".strip(": ")
        raise ToolError(f"The kernel's variables could not be described. {reason}".strip())
    try:
        rows = ast.literal_eval(ast.literal_eval(found["data"]["text/plain"]))
    except (KeyError, ValueError, SyntaxError, TypeError) as err:
        raise ToolError("The kernel's variables could not be described.") from err
    return tuple(Variable(*map(str, row)) for row in sorted(rows))
