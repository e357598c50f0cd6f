import { expect, test } from 'bun:test'
import { createLog } from '../../../src/lib/log.ts'
import type { RequestRecord } from '../../../src/observability/request-record.ts'
import { createRequestTracker } from '../../../src/observability/request-tracker.ts'

const facts = (id: string) => ({
  id,
  organization: 'org_1',
  key: 'k',
  createdAt: 0,
  api: 'chat' as const,
  stream: true,
})

/** What listens, and what it has heard. */
function startRequests(max?: number) {
  const received: RequestRecord[] = []
  const lines: string[] = []
  const listener = { finished: (record: RequestRecord) => void received.push(record) }
  const failing = {
    finished() {
      throw new Error('no room')
    },
  }
  const log = createLog((line) => void lines.push(line))
  return {
    heard: received,
    lines,
    listener,
    failing,
    log,
    requests: createRequestTracker([failing, listener], log, max),
  }
}

test('a request is finished when its reply was made and its call has ended, in either order', () => {
  const { requests, heard: received } = startRequests()
  const complete = requests.begin('whole', 'POST')
  complete.callStarted(facts('whole'))
  complete.callEnded({ status: 200 })
  expect(received).toEqual([])
  complete.replied({ status: 200 })
  expect(received.map(({ id }) => id)).toEqual(['whole'])

  const stream = requests.begin('stream', 'POST')
  stream.callStarted(facts('stream'))
  stream.replied({ status: 200 })
  expect(requests.open()).toEqual({ requests: 1, calls: 1, streams: 1 })
  stream.callEnded({ status: 200 })
  expect(received.map(({ id }) => id)).toEqual(['whole', 'stream'])
  expect(requests.open()).toEqual({ requests: 0, calls: 0, streams: 0 })
})

test('a background call is not part of the request that queued it', () => {
  const { requests, heard: received } = startRequests()
  const booking = requests.begin('one', 'POST')
  booking.requestReceived(facts('one'))
  const run = requests.backgroundCall(facts('one'))
  booking.replied({ status: 200 })
  run.callEnded({ status: 502, error: 'upstream_timeout' })
  expect(received.map((record) => [record.background, record.errorCode()])).toEqual([
    [false, undefined],
    [true, 'upstream_timeout'],
  ])
})

test('a listener that fails does not affect the others, and is logged', () => {
  const { requests, heard: received, lines } = startRequests()
  requests.begin('one', 'GET').replied({ status: 200 })
  expect(received.length).toBe(1)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ request: 'one', cause: 'Error: no room' }])
})

test('requests that never end are remembered up to a limit', () => {
  const { requests } = startRequests(3)
  for (let count = 0; count < 10; count++) requests.begin(`req_${count}`, 'GET')
  expect(requests.open().requests).toBe(3)
})
