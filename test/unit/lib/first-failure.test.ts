import { expect, test } from 'bun:test'
import { logFirstFailure } from '../../../src/lib/first-failure.ts'
import { createLog } from '../../../src/lib/log.ts'

test('the first of several failures in a row is logged, and the next one only after a success', async () => {
  const lines: string[] = []
  const log = createLog((line) => void lines.push(line))
  const outage = logFirstFailure(log, 'Events could not be read.')
  for (const cause of ['first', 'second']) {
    outage.failed(new Error(cause))
    outage.failed(new Error('later'))
    await expect(outage.during(() => Promise.reject(new Error('later')))).rejects.toThrow('later')
    outage.failed(new Error('later'))
    await outage.during(async () => {})
  }
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', message: 'Events could not be read.', cause: 'Error: first' },
    { level: 'warn', cause: 'Error: second' },
  ])
})
