import { expect, test } from 'bun:test'
import { silentLog } from '../../../src/lib/log.ts'
import { createRequestTracker } from '../../../src/observability/request-tracker.ts'
import { createMemoryRelease } from '../../../src/server/memory-release.ts'

const facts = { organization: 'org_1', key: 'k', createdAt: 0, api: 'chat' as const, stream: false }

/** The requests of a gateway; `check` returns how often memory has been released. */
function startGateway() {
  const requests = createRequestTracker([], silentLog)
  let releases = 0
  const look = createMemoryRelease(requests, () => void releases++)
  function call(id: string): () => void {
    const request = requests.begin(id, 'POST')
    request.callStarted({ ...facts, id })
    return () => {
      request.callEnded({ status: 200 })
      request.replied({ status: 200 })
    }
  }
  return {
    requests,
    call,
    serve(count: number) {
      for (let index = 0; index < count; index++) call(`req_${index}`)()
    },
    check() {
      look()
      return releases
    },
  }
}

test('memory is released once after each period of many calls, and not after a start', () => {
  const { check, serve } = startGateway()
  expect([check(), check()]).toEqual([0, 0])
  serve(1000)
  expect([check(), check(), check()]).toEqual([0, 1, 1])
  serve(999)
  expect([check(), check()]).toEqual([1, 1])
  serve(1)
  expect([check(), check(), check()]).toEqual([1, 2, 2])
})

test('no memory is released while a request or a call is open', () => {
  const { requests, check, call, serve } = startGateway()
  serve(1000)
  const end = call('last')
  expect([check(), check(), check()]).toEqual([0, 0, 0])
  end()
  const background = requests.backgroundCall({ ...facts, id: 'run' })
  expect([check(), check()]).toEqual([0, 0])
  background.callEnded({ status: 200 })
  const report = requests.begin('report', 'GET')
  expect(check()).toBe(0)
  report.replied({ status: 200 })
  expect([check(), check()]).toEqual([1, 1])
})

test('a check of health after the calls does not put off the release', () => {
  const { requests, check, serve } = startGateway()
  serve(1000)
  check()
  requests.begin('probe', 'GET').replied({ status: 200 })
  expect(check()).toBe(1)
})
