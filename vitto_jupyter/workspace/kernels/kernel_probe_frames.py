"""The part of the probe's text that reads frames, series and indexes of pandas, also of subclasses.

Only what the instances hold is read: blocks of arrays, and no method or property of pandas. Its
rules are in kernel_probe_text.
"""

FRAMES = r"""
# -- pandas ---------------------------------------------------------------------------------

def extension_text(values):
    # the type of an array of pandas
    kind = class_name(type_of(values))
    dtype = get(values, '_dtype')
    zone = dict_get(fields(dtype), '_tz') if dtype is not None else None
    if kind[-11:] == 'Categorical':
        return 'category'
    if kind[-11:] == 'StringArray':
        return 'str'
    if kind[-13:] == 'DatetimeArray':
        unit = dtype_text(get(array_of(get(values, '_ndarray')), 'dtype'))
        return unit if zone is None else unit[:-1] + ', ' + zone_text(zone) + ']'
    inner = array_of(dict_get(fields(values), '_data'))
    if inner is not None:
        return cut(dtype_text(get(inner, 'dtype')), 40) + ' with NA'
    if dict_get(fields(values), '_sparse_values') is not None:
        inside = array_of(dict_get(fields(values), '_sparse_values'))
        return 'Sparse[' + dtype_text(get(inside, 'dtype')) + ']'
    arrow = dict_get(fields(values), '_pa_array')
    if arrow is not None:
        return arrow_text(arrow) + '[pyarrow]'
    if kind[-14:] == 'TimedeltaArray':
        return dtype_text(get(array_of(get(values, '_ndarray')), 'dtype'))
    return kind

def zone_text(zone):
    for name in ('key', 'zone'):
        found = get(zone, name)
        if exact(found, str):
            return found
    if class_name(type_of(zone)) == 'datetime.timezone':
        return method(zone, '__str__')()
    return class_name(type_of(zone))

def arrow_type(arrow):
    # types that are written in Python are a user's
    found = get(arrow, 'type')
    return found if found is not None and is_native(type_of(found)) else None

def arrow_text(arrow):
    found = arrow_type(arrow)
    return method(found, '__str__')() if found is not None else 'unknown'

def column_type(values):
    array = array_of(values)
    return extension_text(values) if array is None else dtype_text(get(array, 'dtype'))

def column_values(values, limit, row=0):
    # texts of the first values of a column
    array = array_of(values)
    if array is not None:
        return values_text(array, limit)
    inner = array_of(get(values, '_ndarray'))
    if inner is not None and class_name(type_of(values))[-11:] == 'Categorical':
        categories = dict_get(fields(get(values, '_dtype')), '_categories')
        return [index_value(categories, code) if code >= 0 else 'NaN'
                for code in inner[:limit].tolist()]
    if inner is not None:
        if class_name(type_of(values))[-11:] == 'PeriodArray':
            return []
        inner = inner[row] if get(inner, 'ndim') > 1 else inner
        zoned = dict_get(fields(get(values, '_dtype')), '_tz') is not None
        return [text + 'Z' if zoned else text for text in values_text(inner, limit)]
    found = fields(values)
    data, mask = array_of(dict_get(found, '_data')), array_of(dict_get(found, '_mask'))
    if data is not None and mask is not None:
        shown = pairs(values_text(data, limit), mask[:limit].tolist())
        return ['<NA>' if hidden else text for text, hidden in shown]
    arrow = dict_get(found, '_pa_array')
    return arrow_values(arrow, limit) if arrow is not None else []

def arrow_values(arrow, limit):
    kind = type_of(arrow_type(arrow))
    if class_name(kind) != 'pyarrow.lib.DataType' or not is_native(type_of(arrow)):
        return []
    part = method(arrow, 'slice')(0, limit)
    return [text_of(item, 1) for item in method(part, 'to_pylist')()]

def column_bytes(values):
    array = array_of(values)
    if array is not None:
        return get(array, 'nbytes')
    total = 0
    found = fields(values)
    for part in (get(values, '_ndarray'), dict_get(found, '_data'), dict_get(found, '_mask'),
                 dict_get(found, '_sparse_values')):
        inner = array_of(part)
        if inner is not None:
            total = total + get(inner, 'nbytes')
    size = get(dict_get(found, '_pa_array'), 'nbytes')
    return total + size if exact(size, int) else total

def index_value(index, at):
    # the text of one label
    found = fields(index)
    numbers = dict_get(found, '_range')
    if exact(numbers, range_type):
        return text_of(numbers[at])
    levels = dict_get(found, '_levels')
    if levels is not None:
        codes = dict_get(found, '_codes')
        parts = pairs(list_of(list_iter(levels)), list_of(list_iter(codes)))
        return '(' + ', '.join([index_value(level, code[at:at + 1].tolist()[0])
                                for level, code in parts]) + ')'
    data = dict_get(found, '_data')
    array = array_of(data)
    array = array_of(get(data, '_ndarray')) if array is None else array
    if array is not None and class_name(type_of(data))[-11:] != 'Categorical':
        return (values_text(array[at:at + 1], 1) or ['?'])[0]
    arrow = dict_get(fields(data), '_pa_array')
    if arrow is not None and is_native(type_of(arrow)):
        return (arrow_values(method(arrow, 'slice')(at, 1), 1) or ['?'])[0]
    shown = column_values(data, at + 1)
    return shown[at] if list_len(shown) > at else '?'

def index_count(index):
    found = fields(index)
    numbers = dict_get(found, '_range')
    if exact(numbers, range_type):
        return range_len(numbers)
    codes = dict_get(found, '_codes')
    data = first(list_iter(codes), 1)[0] if codes is not None else dict_get(found, '_data')
    array = array_of(data)
    array = array_of(get(data, '_ndarray')) if array is None else array
    if array is None:
        array = array_of(dict_get(fields(data), '_data'))
    if array is not None:
        return get(array, 'size')
    return method(dict_get(fields(data), '_pa_array'), '__len__')()

def columns_of(blocks, limit):
    # the first columns by position: the values of their block, and their row in it
    found = {}
    for block in tuple_iter(blocks):
        places = array_of(get(get(block, '_mgr_locs'), 'as_array'))
        for row, place in numbered(places[:2000].tolist()):
            if place < limit:
                found[place] = (get(block, 'values'), row)
    return found

def numbered(values):
    return pairs(first(counter(), list_len(values)), values)

def frame_summary(value):
    manager = dict_get(fields(value), '_mgr')
    axes, blocks = field(manager, 'axes'), field(manager, 'blocks')
    columns, index = list_of(list_iter(axes))
    width, height = index_count(columns), index_count(index)
    parts = columns_of(blocks, 20)
    size = 0
    for block in tuple_iter(blocks):
        size = size + column_bytes(get(block, 'values'))
    shown, rows = [], [[], [], []]
    for at in first(counter(), width if width < 20 else 20):
        values, row_in_block = parts[at]
        array = array_of(values)
        if array is not None:
            values = array = array[row_in_block]
        label = index_value(columns, at)
        label = label[1:-1] if label[:1] in ("'", '"') else label
        stats = stats_text(array) if array is not None else ''
        list_append(shown, cut(label, 60) + ': ' + column_type(values) + stats)
        if at < 8:
            texts = column_values(values, 3, row_in_block) + ['?', '?', '?']
            for row, text in pairs(rows, texts[:3]):
                list_append(row, cut(text, 40))
    text = int_repr(height) + ' rows × ' + int_repr(width) + ' columns' + size_text(size) + ': '
    text = text + ', '.join(shown) + (', …' if width > 20 else '')
    if width > 0 and height > 0:
        lines = [cut(index_value(index, at), 40) + ': (' + ', '.join(rows[at])
                 + (', …)' if width > 8 else ')')
                 for at in first(counter(), height if height < 3 else 3)]
        text = text + '; rows ' + ', '.join(lines) + (', …' if height > 3 else '')
    return text

def series_summary(value):
    manager = dict_get(fields(value), '_mgr')
    values = get(first(tuple_iter(field(manager, 'blocks')), 1)[0], 'values')
    index = first(list_iter(field(manager, 'axes')), 1)[0]
    count, name = index_count(index), dict_get(fields(value), '_name')
    named = ', name ' + text_of(name) if name is not None else ''
    array = array_of(values)
    stats = stats_text(array) if array is not None else ''
    shown = column_values(values, 5)
    text = int_repr(count) + ' values, ' + column_type(values) + size_text(column_bytes(values))
    if not shown:
        return text + named
    return text + named + stats + ': [' + ', '.join(shown) + (', …]' if count > 5 else ']')

def index_summary(value):
    count = index_count(value)
    shown = [index_value(value, at) for at in first(counter(), count if count < 5 else 5)]
    return int_repr(count) + ' labels: [' + ', '.join(shown) + (', …]' if count > 5 else ']')
"""
