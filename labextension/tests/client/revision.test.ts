import { expect, test } from 'vitest';
import { cellRevision, revisionOf } from '../../src/client/revision';

// values of hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
test.each([
  ['', 'e3b0c44298fc1c14'],
  ['x = 1\n', '9e26bf369911c45c'],
  ['ä😀', '41cdb6f90a10b81f'],
  ['a\ud800b', '45e334b6c74ca5db']
])('the revision of %j is the one of Python', (text, revision) => {
  expect(revisionOf(text)).toBe(revision);
});

test('the revision of a cell depends on its type', () => {
  expect(cellRevision('code', 'x')).toBe(revisionOf('code\nx'));
  expect(cellRevision('code', 'x')).not.toBe(cellRevision('markdown', 'x'));
});
