import { expect, test } from 'bun:test'
import { csvLine } from '../../../src/lib/csv.ts'

test.each([
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['a "b"\nc', '"a ""b""\nc"'],
  ['=1+1', "'=1+1"],
  [' @SUM(A1)', "' @SUM(A1)"],
  ['\ttab', "'\ttab"],
  ['\rreturn', '"\'\rreturn"'],
  ['＝1+1', "'＝1+1"],
  ['a\u001b[2J\u009b1mb\u007f', 'a\ufffd[2J\ufffd1mb\ufffd'],
  ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
  ['-1+1', "'-1+1"],
  ['-', "'-"],
  ['-0.01', '-0.01'],
  ['-9007199254740991.000000001', '-9007199254740991.000000001'],
  [-3, '-3'],
  [0, '0'],
  [null, ''],
  [undefined, ''],
])('the value %j is the cell %j', (value, cell) => {
  expect(csvLine([value])).toBe(cell)
})

test('cells are separated by commas, also empty ones', () => {
  expect(csvLine(['a', null, '', 1])).toBe('a,,,1')
})
