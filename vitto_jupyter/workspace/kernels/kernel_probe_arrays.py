"""The part of the probe's text that reads arrays of numpy; its rules are in kernel_probe_text."""

ARRAYS = r"""
# -- arrays ---------------------------------------------------------------------------------

def array_of(value):
    # a view without the class of a user: nothing of a subclass is called
    base = native_base(type_of(value), 'numpy.ndarray')
    if base is None:
        return None
    if exact(value, base):
        return value
    return class_entry(base, 'view').__get__(value)(base)

def dtype_text(dtype):
    kind, size = get(dtype, 'kind'), get(dtype, 'itemsize')
    if not exact(kind, str) or not exact(size, int):
        return class_name(type_of(dtype))
    if kind in ('i', 'u', 'f', 'c'):
        return {'i': 'int', 'u': 'uint', 'f': 'float', 'c': 'complex'}[kind] + int_repr(size * 8)
    if kind in ('M', 'm'):
        name = 'datetime64' if kind == 'M' else 'timedelta64'
        return name + get(dtype, 'str')[3:]
    names = get(dtype, 'names')
    if exact(names, tuple):
        parts = get(dtype, 'fields')
        shown = [name + ': ' + dtype_text(proxy_get(parts, name)[0]) for name in names[:12]]
        return 'record(' + ', '.join(shown) + (', …)' if tuple_len(names) > 12 else ')')
    words = {'b': 'bool', 'O': 'object', 'T': 'string'}
    if kind == 'U':
        return 'str' + int_repr(size // 4)
    return words[kind] if kind in words else {'S': 'bytes', 'V': 'void'}[kind] + int_repr(size)

def values_text(array, limit):
    # the first values of an array with one dimension
    kind = get(get(array, 'dtype'), 'kind')
    part = array[:limit]
    if kind == 'M':
        return [short_date(text) for text in part.astype('U').tolist()]
    if kind == 'm':
        unit = get(get(array, 'dtype'), 'str')[4:-1]
        return [int_repr(count) + ' ' + unit for count in part.view('i8').tolist()]
    return [text_of(item, 1) for item in part.tolist()]

def short_date(text):
    for zeros in ('.000000000', '.000000', '.000', 'T00:00:00'):
        size = str_len(zeros)
        text = text[:-size] if text[-size:] == zeros else text
    return text

def stats_text(array):
    # of small arrays only: the loop is slow
    size, kind = get(array, 'size'), get(get(array, 'dtype'), 'kind')
    if size > 10000 or size < 4 or kind not in ('i', 'u', 'f') or size > budget[0]:
        return ''
    budget[0] = budget[0] - size
    low = high = None
    total, count = 0.0, 0
    for item in array.ravel().tolist():
        if not exact(item, int) and not exact(item, float):
            return ''
        if item != item:
            continue
        low = item if low is None or item < low else low
        high = item if high is None or item > high else high
        total, count = total + item, count + 1
    if count == 0:
        return ' (all NaN)'
    missing = f', {size - count} NaN' if count < size else ''
    return f' ({low:.6g} to {high:.6g}, mean {total / count:.6g}{missing})'

budget = [60000]

def shape_text(shape):
    return ' × '.join([text_of(size) for size in tuple_iter(shape)]) or 'scalar'

def array_summary(value):
    array = array_of(value)
    shape, dtype = get(array, 'shape'), get(array, 'dtype')
    head = shape_text(shape) + ', ' + dtype_text(dtype) + size_text(get(array, 'nbytes'))
    if tuple_len(shape) == 0:
        return head + ': ' + text_of(array.tolist(), 1)
    row = array
    while get(row, 'ndim') > 1 and get(row, 'size') > 0:
        row = row[0]
    if get(row, 'size') == 0:
        return head
    shown = values_text(row, 5)
    mask = array_of(field(value, '_mask'))
    if mask is not None and get(mask, 'shape') == shape:
        while get(mask, 'ndim') > 1:
            mask = mask[0]
        shown = ['--' if hidden else text for text, hidden in pairs(shown, mask[:5].tolist())]
        head = head + ', masked'
    elif mask is None:
        head = head + stats_text(array)
    more = ', …' if get(row, 'size') > 5 else ''
    lead = '; first row: ' if tuple_len(shape) > 1 else ': '
    return head + lead + '[' + ', '.join(shown) + more + ']'

def pairs(one, other):
    return [(one[at], other[at]) for at in first(counter(), list_len(one))]

def counter():
    at = 0
    while True:
        yield at
        at = at + 1
"""
