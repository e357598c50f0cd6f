import { expect, test } from 'bun:test'
import { createLog } from '../../../src/lib/log.ts'
import { RecordBatcher } from '../../../src/observability/record-batcher.ts'
import { RequestRecord } from '../../../src/observability/request-record.ts'

const noListener = { callEnded() {}, finished() {} }
const record = (id: string) => new RequestRecord(id, 'POST', noListener)

/** A reader that remembers the ids of its records. */
function reader() {
  const ids: string[] = []
  let wake = () => {}
  const woken = new Promise<void>((resolve) => (wake = resolve))
  const finished = ({ id }: RequestRecord) => {
    ids.push(id)
    wake()
  }
  return { ids, woken, finished }
}

function gather(...readers: readonly { finished(record: RequestRecord): void }[]) {
  const lines: string[] = []
  const log = createLog((line) => void lines.push(line))
  return { records: new RecordBatcher(readers, log), lines }
}

test('each reader receives each record once, in order and a moment later', async () => {
  const first = reader()
  const second = reader()
  const { records, lines } = gather(first, second)
  for (const id of ['a', 'b', 'c']) records.add(record(id))
  expect(first.ids).toEqual([])
  await second.woken
  expect([first.ids, second.ids]).toEqual([
    ['a', 'b', 'c'],
    ['a', 'b', 'c'],
  ])
  records.flush()
  expect(first.ids.length).toBe(3)
  expect(lines).toEqual([])
})

test('what is read has all records up to now', () => {
  const { ids, finished } = reader()
  const { records } = gather({ finished })
  records.add(record('a'))
  expect(records.upToDate(() => ids.length)).toBe(1)
})

test('many records do not wait', () => {
  const { ids, finished } = reader()
  const { records } = gather({ finished })
  for (let index = 0; index < 1000; index++) records.add(record(String(index)))
  expect(ids.length).toBe(1000)
})

test('a reader that fails takes no record from the others, and its failure is logged', () => {
  const { ids, finished } = reader()
  const broken = {
    finished({ id }: RequestRecord) {
      if (id === 'a') throw new Error('broken')
      finished(record(`after ${id}`))
    },
  }
  const { records, lines } = gather(broken, { finished })
  records.add(record('a'))
  records.add(record('b'))
  records.flush()
  expect(ids).toEqual(['after b', 'a', 'b'])
  expect(lines.length).toBe(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'error', request: 'a', cause: 'Error: broken' })
})
