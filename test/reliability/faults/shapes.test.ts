import { expect, test } from 'bun:test'
import { sendShapes, unwanted } from './support/shapes.ts'

test('requests of hostile shapes get no 5xx but 503, and leave nothing behind', async () => {
  const shaped = await sendShapes(0.1)
  console.log(JSON.stringify(shaped))
  expect(unwanted(shaped)).toEqual([])
  expect([shaped.held, shaped.open]).toEqual([0, 0])
}, 120_000)
