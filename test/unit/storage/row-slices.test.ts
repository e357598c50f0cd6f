import { expect, test } from 'bun:test'
import { readSlices } from '../../../src/storage/common/row-slices.ts'

/** Reads rows of these sizes, named by their position, and returns the ids of each slice. */
async function slicesOf(sizes: readonly number[], limits: { maxBytes: number; maxRows: number }) {
  const found = sizes.map((bytes, index) => ({ id: String(index), bytes }))
  const slices: string[][] = []
  const readRows = async (ids: readonly string[]) => {
    slices.push([...ids])
    // A store returns rows in any order.
    return ids.map((id) => ({ id })).toReversed()
  }
  const rows: (string | undefined)[] = []
  for await (const slice of readSlices(found, limits, readRows)) rows.push(...slice.map((row) => row?.id))
  expect(rows).toEqual(found.map(({ id }) => id))
  return slices
}

test.each([
  ['as many rows as fit', [4, 6, 1], [['0', '1'], ['2']]],
  ['a row of any size', [1, 50, 1], [['0'], ['1'], ['2']]],
  ['no more rows than the limit', [0, 0, 0, 0], [['0', '1', '2'], ['3']]],
  ['nothing without rows', [], []],
])('a slice has %s', async (_, sizes, slices) => {
  expect(await slicesOf(sizes, { maxBytes: 10, maxRows: 3 })).toEqual(slices)
})

test('a row that was deleted meanwhile is undefined at its place', async () => {
  const found = ['one', 'two', 'three'].map((id) => ({ id, bytes: 1 }))
  const readRows = async () => [{ id: 'three' }, { id: 'one' }]
  const slices = await Array.fromAsync(readSlices(found, { maxBytes: 10, maxRows: 10 }, readRows))
  expect(slices).toEqual([[{ id: 'one' }, undefined, { id: 'three' }]])
})
