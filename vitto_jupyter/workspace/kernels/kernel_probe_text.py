"""The text of the probe that runs in a Python kernel, see kernel_probe. Knows nothing else.

Rules for everything in here, so that no line of it can run user code:
- no builtins, no import, no `class`, no `with`; names come from `NAMES` in kernel_probe;
- methods and operators only on values of an exact built-in type, or an exact numpy array;
- everything else is read through descriptors that are written in C (`slot`) or in the dict of
  an instance (`fields`); what has none of these is told by its type alone;
- no lookup in a dict whose keys could be of a user type.
"""

from .kernel_probe_arrays import ARRAYS
from .kernel_probe_frames import FRAMES

_VALUES = r"""
def exact(value, kind):
    return type_of(value) is kind

# -- what cannot be replaced by a user ------------------------------------------------------

def plain_keys(mapping):
    for key in dict_iter(dict_items(mapping)):
        if not exact(key[0], str):
            return False
    return True

def class_entry(kind, name):
    # a class body can have keys of a user type: these must not be compared
    proxy = class_dict(kind)
    for known in checked:
        if known is kind:
            return proxy_get(proxy, name)
    for key in proxy_iter(proxy):
        if not exact(key, str):
            return None
    list_append(checked, kind)
    return proxy_get(proxy, name)

checked = []

def is_native(kind):
    # static, or immutable: classes of C code that nobody can change or write in Python
    flags = type_flags(kind)
    return not flags & 512 or flags & 256

def slot(kind, name):
    for base in type_mro(kind):
        found = class_entry(base, name)
        if found is not None:
            how = type_of(found)
            for native in native_descriptors:
                if how is native:  # and of that very class: a user can lend those of others
                    return found if found.__objclass__ is base else None
            return found if is_native(base) else None
    return None

def get(value, name):
    found = slot(type_of(value), name)
    how = type_of(found)
    return found.__get__(value) if how is native_getset or how is native_member else None

def method(value, name):
    found = slot(type_of(value), name)
    how = type_of(found)
    if found is None or how is native_getset or how is native_member:
        return None  # what these give could be anything, and is not for calling
    return found.__get__(value)

def fields(value):
    found = get(value, '__dict__')
    return found if exact(found, dict) and plain_keys(found) else {}

def field(value, name):
    found = get(value, name)
    return dict_get(fields(value), name) if found is None else found

def native_base(kind, name):
    for base in type_mro(kind):
        if is_native(base) and class_name(base) == name:
            return base
    return None

def has_base(kind, wanted):
    for base in type_mro(kind):
        if base is wanted:
            return True
    return False

def module_entry(module, name):
    if not plain_keys(modules):
        return None
    found = dict_get(modules, module)
    if not exact(found, module_type):
        return None
    names = module_dict(found)
    return dict_get(names, name) if plain_keys(names) else None

# -- texts ----------------------------------------------------------------------------------

def class_name(kind):
    name, module = type_name(kind), type_module(kind)
    if not exact(name, str):
        return '?'
    if exact(module, str) and module not in ('builtins', '__main__'):
        return module + '.' + name
    return name

def cut(text, limit):
    return text if str_len(text) <= limit else text[:limit] + '…'

def size_text(count):
    if not exact(count, int):
        return ''
    for limit, unit in ((1000000000, 'GB'), (1000000, 'MB'), (1000, 'kB')):
        if count >= limit:
            return f', {count / limit:.3g} {unit}'
    return f', {count} B'

def name_text(name):
    return cut(name, 60) if exact(name, str) else text_of(name)

def text_of(value, depth=0):
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
    kind = type_of(value)
    if depth > 0:
        found = container_text(value, kind, depth - 1, 3)
        if found is not None:
            return found
    base = native_base(kind, 'datetime.datetime')
    if base is not None and class_entry(base, 'tzinfo').__get__(value) is None:
        return class_entry(base, 'isoformat').__get__(value)()
    if is_native(kind):
        found = native_text(value, kind)
        if found is not None:
            return found
    return '<' + class_name(kind) + '>'

def native_text(value, kind):
    name = class_name(kind)
    if name in ('datetime.date', 'datetime.timedelta', 'decimal.Decimal', 'uuid.UUID'):
        return method(value, '__str__')()
    if name == 'range':
        shown = [text_of(get(value, part)) for part in ('start', 'stop', 'step')]
        return 'range(' + ', '.join(shown) + ')'
    if native_base(kind, 'numpy.generic') is not None:
        item = method(value, 'item')()
        return text_of(item) if type_of(item) is not kind else None
    return None

def some(values, count, limit, depth):
    shown = [text_of(value, depth) for value in values]
    return ', '.join(shown) + (', …' if count > limit else '')

def first(iterator, limit):
    found = []
    for value in iterator:
        if list_len(found) >= limit:
            break
        list_append(found, value)
    return found

# -- containers -----------------------------------------------------------------------------

def container_count(value, kind):
    for base, count in ((dict, dict_len), (list, list_len), (tuple, tuple_len), (set, set_len),
                        (frozenset, frozenset_len)):
        if has_base(kind, base):
            return count(value)
    return None

def container_text(value, kind, depth, limit):
    count = container_count(value, kind)
    if has_base(kind, dict):
        shown = [text_of(key) + ': ' + text_of(item, depth)
                 for key, item in first(dict_iter(dict_items(value)), limit)]
        return '{' + ', '.join(shown) + (', …}' if count > limit else '}')
    for base, iterate, opening, closing in (
        (list, list_iter, '[', ']'), (tuple, tuple_iter, '(', ')'), (set, set_iter, '{', '}'),
        (frozenset, frozenset_iter, 'frozenset({', '})'),
    ):
        if has_base(kind, base):
            return opening + some(first(iterate(value), limit), count, limit, depth) + closing
    return None
"""

_VARIABLES = r"""
# -- other libraries ------------------------------------------------------------------------

def polars_summary(value):
    frame = dict_get(fields(value), '_df')
    rows, columns = method(frame, 'shape')()
    found = pairs(method(frame, 'columns')()[:20], method(frame, 'dtype_strings')()[:20])
    shown = ', '.join([name_text(name) + ': ' + name_text(dtype) for name, dtype in found])
    more = ', …' if columns > 20 else ''
    return int_repr(rows) + ' rows × ' + int_repr(columns) + ' columns: ' + shown + more

def tensor_summary(value):
    dtype, device = get(value, 'dtype'), get(value, 'device')
    name = name_text(method(dtype, '__repr__')())
    return shape_text(get(value, 'shape')) + ', ' + name + ' on ' + get(device, 'type')

def sparse_summary(value):
    stored = array_of(dict_get(fields(value), 'data'))
    text = shape_text(dict_get(fields(value), '_shape')) + ', ' + dtype_text(get(stored, 'dtype'))
    return text + ', ' + int_repr(get(stored, 'size')) + ' stored values'

def object_summary(value):
    names = [name for name in first(dict_keys(fields(value)), 40) if name[:1] != '_']
    if not names:
        return ''
    return 'attributes: ' + ', '.join(names[:12]) + (', …' if list_len(names) > 12 else '')

# -- one variable ---------------------------------------------------------------------------

def function_summary(value):
    code = function_code(value)
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    return name_text(code.co_name) + '(' + ', '.join([name_text(name) for name in names]) + ')'

def summary_of(value):
    kind = type_of(value)
    if kind is str and str_len(value) > 120:
        return int_repr(str_len(value)) + ' characters: ' + text_of(value)
    if kind is bytes and bytes_len(value) > 60:
        return int_repr(bytes_len(value)) + ' bytes: ' + text_of(value)
    for plain in (str, bytes, bool, int, float, complex, none_type):
        if kind is plain:  # not `in`: that would compare, and a metaclass can define ==
            return text_of(value)
    if kind is function_type:
        return function_summary(value)
    if kind is module_type:
        names = module_dict(value)
        name = dict_get(names, '__name__') if plain_keys(names) else None
        return name if exact(name, str) else ''
    if has_base(kind, type_of):
        return 'class ' + class_name(value)
    count = container_count(value, kind)
    if count is not None:
        return int_repr(count) + ' items: ' + container_text(value, kind, 2, 5)
    return library_summary(value, kind)

def library_summary(value, kind):
    if array_of(value) is not None:
        return array_summary(value)
    manager = class_name(type_of(dict_get(fields(value), '_mgr')))
    if manager[:14] == 'pandas.core.in':
        is_series = manager[-18:] == 'SingleBlockManager'
        return series_summary(value) if is_series else frame_summary(value)
    name = class_name(kind)
    if name[:6] == 'pandas' and (name[-5:] == 'Index'):
        return index_summary(value)
    if name[:7] == 'polars.' and name[-9:] == 'DataFrame':
        return polars_summary(value)
    if name[:13] == 'scipy.sparse.' and exact(dict_get(fields(value), '_shape'), tuple):
        return sparse_summary(value)
    if kind is module_entry('torch._tensor', 'Tensor') and tuple_len(type_mro(kind)) == 3:
        return tensor_summary(value)
    text = text_of(value)
    return text if text[:1] != '<' else object_summary(value)

def describe(value):
    try:
        return cut(summary_of(value), 1800)
    except failure:
        return ''

# -- all of them ----------------------------------------------------------------------------

def hidden_names():
    shell_class = module_entry('ipykernel.zmqshell', 'ZMQInteractiveShell')
    if not has_base(type_of(shell_class), type_of):
        return {}
    shell = class_entry(shell_class, '_instance')
    if type_of(shell) is not shell_class:
        return {}
    hidden = dict_get(fields(shell), 'user_ns_hidden')
    return hidden if exact(hidden, dict) and plain_keys(hidden) else {}

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

PROBE = f"{_VALUES}{ARRAYS}{FRAMES}{_VARIABLES}"
