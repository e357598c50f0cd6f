import { expect, test } from 'bun:test'
import { createFailureNotes } from '../../../src/observability/request-log/failure-notes.ts'
import { createReadableLog } from '../../../src/observability/request-log/readable-log.ts'

const now = () => new Date('2026-05-04T10:11:12')

function logged(color = false) {
  const lines: string[] = []
  return { lines, log: createReadableLog({ write: (line) => void lines.push(line), color, now }) }
}

test('a line of the readable log has the time, the level, the message and its fields', () => {
  const { lines, log } = logged()
  log.info('The gateway is shutting down.', { drain_seconds: 30, missing: undefined })
  log.warn('A model list could not be read.', { provider: 'box', cause: 'Error: no "list"' })
  log.error('The sweep has failed.')
  expect(lines).toEqual([
    '10:11:12  info   The gateway is shutting down.  drain_seconds=30',
    '10:11:12  warn   A model list could not be read.  provider=box  cause="Error: no \\"list\\""',
    '10:11:12  error  The sweep has failed.',
  ])
})

test('a readable log colours levels only where colours are supported', () => {
  const { lines, log } = logged(true)
  log.error('Broken.')
  expect(lines[0]).toBe('\u001b[2m10:11:12\u001b[0m  \u001b[31merror\u001b[0m  Broken.')
})

test('foreign text can neither control the terminal nor begin a line in a readable log', () => {
  const { lines, log } = logged()
  log.warn('It said\n\u001b[2J', { cause: 'a\u001b]0;title\u0007\r\nb' })
  expect(lines).toEqual(['10:11:12  warn   It said [2J  cause="a ]0;title b"'])
})

test('a failure is merged into the line of its request, whichever of the two comes first', () => {
  const notes = createFailureNotes(() => true)
  const taken: (string | undefined)[] = []
  expect(notes.add('req_1', 'refused')).toBe(true)
  notes.take('req_1', (text) => void taken.push(text))
  notes.take('req_2', (text) => void taken.push(text))
  expect(taken).toEqual(['refused'])
  notes.add('req_2', 'broken')
  notes.take('req_3', (text) => void taken.push(text))
  notes.flush()
  expect(taken).toEqual(['refused', 'broken', undefined])
})

test('where request lines are disabled, failures are in the log', () => {
  const lines: string[] = []
  const notes = createFailureNotes(() => false)
  const log = createReadableLog({ write: (line) => void lines.push(line), color: false, notes, now })
  log.error('A request failed.', { request: 'req_1', status: 502, cause: 'Error: x' })
  expect(lines).toEqual(['10:11:12  error  A request failed.  request=req_1  status=502  cause="Error: x"'])
})

test('failures that wait for a request line are bounded', () => {
  const notes = createFailureNotes(() => true, 2)
  for (const id of ['a', 'b', 'c']) notes.add(id, id)
  const taken: (string | undefined)[] = []
  for (const id of ['a', 'b', 'c']) notes.take(id, (text) => void taken.push(text))
  notes.flush()
  expect(taken).toEqual(['b', 'c', undefined])
})
