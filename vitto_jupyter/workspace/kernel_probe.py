"""Describes the variables of an IPython kernel without running user code. Pure.

The probe travels as one user expression of a silent request with empty code: no history, no
execution count, no `_`, no name left behind. It runs in a namespace of its own without any
builtins, so nothing that a user can rebind is used; it reaches types through literals and reads
only what exact built-in types (and the real classes of numpy, pandas, polars and torch) hold.
For anything else it gives the type alone: `repr`, `len` or an attribute could run user code.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ..errors import KernelUnavailable, ToolError
from .base import Variable

KEY = "vitto"
_MAX_VARIABLES = 200

# In here: no builtins, no `with`, no `import`, no method call on a value that is not of an exact
# built-in type or of a library class found through its module's dict.
_PROBE = r"""
def exact(value, kind):
    return type_of(value) is kind

def attribute(module, name):
    found = dict_get(modules, module)
    if not exact(found, module_type):
        return None
    return dict_get(module_dict(found), name)

def library(module, name):
    found = attribute(module, name)
    return found if exact(found, type_of) else None

def class_name(kind):
    name = type_name(kind)
    module = type_module(kind)
    if exact(module, str) and module not in ('builtins', '__main__'):
        return module + '.' + name
    return name

def cut(text, limit):
    return text if str_len(text) <= limit else text[:limit] + '…'

def text_of(value):
    if exact(value, str):
        shown = str_repr(value[:120])
        return shown if str_len(value) <= 120 else shown + '…'
    if exact(value, bytes):
        shown = bytes_repr(value[:60])
        return shown if bytes_len(value) <= 60 else shown + '…'
    if value is None or value is True or value is False:
        return {None: 'None', True: 'True', False: 'False'}[value]
    if exact(value, int):
        bits = int_bits(value)
        return int_repr(value) if bits < 4000 else 'about 2**' + int_repr(bits)
    if exact(value, float):
        return float_repr(value)
    if exact(value, complex):
        return complex_repr(value)
    return '<' + class_name(type_of(value)) + '>'

def some(values, count, limit):
    shown = [text_of(value) for value in values]
    more = ', …' if count > limit else ''
    return ', '.join(shown) + more

def first(iterator, limit):
    found = []
    for value in iterator:
        if list_len(found) >= limit:
            break
        list_append(found, value)
    return found

def items_of(value):
    if exact(value, list):
        return list_len(value), value[:5], '[', ']'
    if exact(value, tuple):
        return tuple_len(value), value[:5], '(', ')'
    if exact(value, set):
        return set_len(value), first(set_iter(value), 5), '{', '}'
    if exact(value, frozenset):
        return frozenset_len(value), first(frozenset_iter(value), 5), 'frozenset({', '})'
    return None

def dict_summary(value):
    pairs = first(dict_iter(dict_items(value)), 5)
    shown = [text_of(key) + ': ' + text_of(item) for key, item in pairs]
    more = ', …' if dict_len(value) > 5 else ''
    return int_repr(dict_len(value)) + ' items: {' + ', '.join(shown) + more + '}'

def function_summary(value):
    code = function_code(value)
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    return code.co_name + '(' + ', '.join(names) + ')'

def shape_text(shape):
    if exact(shape, tuple):
        return ' × '.join([text_of(size) for size in shape]) or 'scalar'
    return '?'

def array_summary(value, kind):
    dtype = kind.dtype.__get__(value)
    return shape_text(kind.shape.__get__(value)) + ', ' + dtype.name

def column_list(names, dtypes, count):
    shown = [(name if exact(name, str) else text_of(name)) + ': ' + dtype
             for name, dtype in zip_lists(names, dtypes)]
    return ', '.join(shown) + (', …' if count > list_len(shown) else '')

def zip_lists(one, other):
    return [(one[at], other[at]) for at in first(index_iter(), list_len(one))]

def index_iter():
    at = 0
    while True:
        yield at
        at = at + 1

def frame_summary(value):
    rows, columns = value.shape
    names = list_of(value.columns[:20])
    dtypes = [dtype_text(dtype) for dtype in list_of(value.dtypes.array[:20])]
    return (int_repr(rows) + ' rows × ' + int_repr(columns) + ' columns: '
            + column_list(names, dtypes, columns))

def dtype_text(dtype):
    name = dtype.name
    return name if exact(name, str) else class_name(type_of(dtype))

def series_summary(value):
    name = value.name
    named = ', name ' + text_of(name) if name is not None else ''
    return int_repr(value.shape[0]) + ' values, ' + dtype_text(value.dtype) + named

def polars_summary(value):
    rows, columns = value.shape
    names = value.columns[:20]
    dtypes = [class_name(dtype if exact(dtype, type_of) else type_of(dtype))
              for dtype in value.dtypes[:20]]
    return (int_repr(rows) + ' rows × ' + int_repr(columns) + ' columns: '
            + column_list(names, dtypes, columns))

def tensor_summary(value):
    shape = tuple_of(value.shape)
    return shape_text(shape) + ', ' + object_repr_of(value.dtype) + ' on ' + value.device.type

def object_repr_of(dtype):
    found = type_of(dtype).__repr__(dtype)
    return found if exact(found, str) else '?'

def summary_of(value):
    kind = type_of(value)
    if kind is str and str_len(value) > 120:
        return int_repr(str_len(value)) + ' characters: ' + text_of(value)
    if kind is bytes and bytes_len(value) > 60:
        return int_repr(bytes_len(value)) + ' bytes: ' + text_of(value)
    for plain in (str, bytes, bool, int, float, complex, none_type):
        if kind is plain:  # not `in`: that would compare, and a metaclass can define ==
            return text_of(value)
    found = items_of(value)
    if found is not None:
        count, values, opening, closing = found
        return int_repr(count) + ' items: ' + opening + some(values, count, 5) + closing
    if kind is dict:
        return dict_summary(value)
    if kind is function_type:
        return function_summary(value)
    if kind is module_type:
        name = dict_get(module_dict(value), '__name__')
        return name if exact(name, str) else ''
    if kind is type_of:
        return 'class ' + class_name(value)
    return library_summary(value, kind)

def library_summary(value, kind):
    if kind is library('numpy', 'ndarray'):
        return array_summary(value, kind)
    if kind is library('pandas', 'DataFrame'):
        return frame_summary(value)
    if kind is library('pandas', 'Series'):
        return series_summary(value)
    if kind is library('polars', 'DataFrame'):
        return polars_summary(value)
    if kind is attribute('torch', 'Tensor'):
        return tensor_summary(value)
    return ''

def describe(value):
    try:
        return cut(summary_of(value), 1500)
    except failure:
        return ''

def hidden_names():
    shell_class = attribute('ipykernel.zmqshell', 'ZMQInteractiveShell')
    if shell_class is None:
        return {}
    shell = proxy_get(class_dict(shell_class), '_instance')
    if type_of(shell) is not shell_class:
        return {}
    hidden = dict_get(object_get(shell, '__dict__'), 'user_ns_hidden')
    return hidden if exact(hidden, dict) else {}

def is_users(name, value, hidden):
    if name[:1] == '_' or name in ('In', 'Out', 'exit', 'quit', 'get_ipython'):
        return False
    return name not in hidden or dict_get(hidden, name) is not value

def probe():
    hidden = hidden_names()
    found = []
    for name, value in list_of(dict_items(namespace)):
        if not exact(name, str):
            continue
        if name in wanted if wanted else is_users(name, value, hidden):
            list_append(found, [name, class_name(type_of(value)), describe(value)])
            if list_len(found) >= most:
                break
    return list_repr(found)

result = probe()
"""

# Names for the probe, each reached from a literal or from the real builtins' dict. The dict is
# found from the frozen importer, which is made before any user code can run.
_NAMES = r"""{
  # C code of libraries imports through the caller's builtins; the probe's text uses none.
  '__builtins__': {'__import__': types['__import__']}, '__name__': 'vitto',
  'namespace': (lambda: 0).__globals__, 'wanted': WANTED, 'most': MOST, 'modules': modules,
  'type_of': ().__class__.__class__, 'str': ''.__class__, 'bytes': b''.__class__,
  'int': (0).__class__, 'bool': (0 == 0).__class__, 'float': (0.0).__class__,
  'complex': 0j.__class__, 'list': [].__class__, 'tuple': ().__class__, 'dict': {}.__class__,
  'set': {0}.__class__, 'frozenset': types['frozenset'], 'none_type': None.__class__,
  'function_type': (lambda: 0).__class__, 'module_type': modules['sys'].__class__,
  'failure': types['Exception'],
  'str_len': ''.__class__.__len__, 'str_repr': ''.__class__.__repr__,
  'bytes_len': b''.__class__.__len__, 'bytes_repr': b''.__class__.__repr__,
  'int_repr': (0).__class__.__repr__, 'int_bits': (0).__class__.bit_length,
  'float_repr': (0.0).__class__.__repr__, 'complex_repr': 0j.__class__.__repr__,
  'list_len': [].__class__.__len__, 'list_append': [].__class__.append,
  'list_repr': [].__class__.__repr__, 'list_of': [].__class__, 'tuple_of': ().__class__,
  'tuple_len': ().__class__.__len__, 'set_len': {0}.__class__.__len__,
  'set_iter': {0}.__class__.__iter__, 'frozenset_len': types['frozenset'].__len__,
  'frozenset_iter': types['frozenset'].__iter__, 'dict_len': {}.__class__.__len__,
  'dict_get': {}.__class__.get, 'dict_items': {}.__class__.items,
  'dict_iter': {}.items().__class__.__iter__,
  'type_name': ().__class__.__class__.__dict__['__qualname__'].__get__,
  'type_module': ().__class__.__class__.__dict__['__module__'].__get__,
  'class_dict': ().__class__.__class__.__dict__['__dict__'].__get__,
  'module_dict': modules['sys'].__class__.__dict__['__dict__'].__get__,
  'function_code': (lambda: 0).__class__.__dict__['__code__'].__get__,
  'proxy_get': ().__class__.__dict__.__class__.get,
  'object_get': ().__class__.__base__.__getattribute__,
}"""

_EXPRESSION = """
(lambda modules:
  (lambda types:
    (lambda names: (types['exec'](PROBE, names), names['result'])[1])(NAMES)
  )(modules['builtins'].__class__.__dict__['__dict__'].__get__(modules['builtins']))
)(
  (c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'BuiltinImporter')
  .__next__().find_spec.__func__.__globals__['sys'].modules
)
"""


def expression(names: Sequence[str]) -> str:
    """The user expression that describes `names`, or all user variables when empty.

    Args:
        names: Identifiers; they go in as data.
    """
    wanted = repr(tuple(str(name) for name in names))
    filled = _NAMES.replace("WANTED", wanted).replace("MOST", str(_MAX_VARIABLES))
    return _EXPRESSION.strip().replace("NAMES", filled).replace("PROBE", repr(_PROBE))


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
