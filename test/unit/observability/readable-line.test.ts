import { expect, test } from 'bun:test'
import { upstreamFailed } from '../../../src/lib/errors/upstream-errors.ts'
import { readableLine } from '../../../src/observability/request-log/readable-log.ts'
import { createRequestLog } from '../../../src/observability/request-log/request-log.ts'
import { RequestRecord } from '../../../src/observability/request-record.ts'
import { provider } from '../gateway/support/model-fixtures.ts'

const now = new Date('2026-05-04T10:11:12')

function recordOf(): RequestRecord {
  return new RequestRecord('req_1', 'POST', { callEnded() {}, finished() {} })
}

const facts = {
  id: 'req_1',
  organization: 'org_1',
  key: 'k',
  createdAt: 0,
  api: 'chat' as const,
  model: 'a/b',
}

test('a readable line shows the model, the provider, the duration and the id', () => {
  const record = recordOf()
  record.callStarted({ ...facts, stream: false })
  record.attemptStarted({ provider: provider('acme'), model: 'b' })
  record.attemptFailed(upstreamFailed('upstream_timeout', ''))
  record.attemptStarted({ provider: provider('other'), model: 'b' })
  const usage = { promptTokens: 7, completionTokens: 9, estimated: false }
  record.callEnded({ status: 200, provider: 'other', usage, cost: 5n })
  record.replied({ status: 200, path: '/v1/chat/completions' })
  expect(readableLine(record, { now }).split(/ {2,}/)).toEqual([
    '10:11:12',
    '200',
    'POST /v1/chat/completions',
    'a/b',
    'acme (upstream_timeout) → other',
    '7+9 tokens',
    '$<0.0001',
    expect.stringMatching(/^[\d.]+ ms \(own [\d.]+ ms\)$/),
    'req_1',
  ])
})

test('a request without a model has a short readable line', () => {
  const record = recordOf()
  record.replied({ status: 404 })
  expect(readableLine(record, { now })).toMatch(
    /^10:11:12 {2}404 {4}POST \? {2}\S+ ms \(own \S+ ms\) {2}req_1$/,
  )
})

test('a terminal gets readable lines', async () => {
  const written: string[] = []
  const sink = { write: (text: string, done: () => void) => (written.push(text), done()) }
  const log = createRequestLog({ sink, readable: true }, () => 'requests')
  const record = recordOf()
  record.replied({ status: 200, path: '/v1/models' })
  log.finished(record)
  await log.flush(1000)
  expect(written.join('')).toMatch(/^\S+ {2}200 {4}POST \/v1\/models .*req_1\n$/)
})
