import { describe, expect, test } from 'bun:test'
import { readPieces } from '../../support/body-reader.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { chatOutput, chunks, delta, jsonReply } from '../../support/chat-fixtures.ts'
import { hang } from '../../support/script.ts'
import { firstKey } from '../../support/app.ts'
import { prepareGateways, sendChat } from './support/processes.ts'
import { testSharedDatabases } from './support/shared-database.ts'

type Gateway = { readonly url: string }

function listModels({ url }: Gateway): Promise<Response> {
  return fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${firstKey}` }, keepalive: false })
}

async function countPassed(replies: readonly Promise<Response>[]): Promise<number> {
  const statuses = (await Promise.all(replies)).map(({ status }) => status)
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([])
  return statuses.filter((status) => status === 200).length
}

const endless = chunks([delta({ role: 'assistant', content: 'It is ' })], hang)

testSharedDatabases((create) => {
  describe('three processes', () => {
    test('let exactly five requests pass in the first minute, whatever the split of the callers is', async () => {
      const { start } = await prepareGateways(await create(), jsonReply(), {
        limits: { requests_per_minute: 5 },
      })
      const apps = [await start(), await start(), await start()]
      const order = [0, 0, 1, 2, 2, 1, 0, 2, 1, 1]
      const startedAt = performance.now()
      const passed = await countPassed(order.map((index) => listModels(apps[index] ?? { url: '' })))
      const refused = await listModels(apps[1] ?? { url: '' })
      // A slow machine may have let one more refill.
      expect(passed).toBe(performance.now() - startedAt < 12_000 ? 5 : passed)
      expect(refused.status).toBe(429)
      expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0')
      expect(Number(refused.headers.get('retry-after-ms'))).toBeWithin(1, 12_001)
    })

    test('let a burst of calls pass up to the limit, and no more than refills meanwhile', async () => {
      const limits = { requests_per_minute: 120 }
      const { start } = await prepareGateways(await create(), jsonReply(), { limits })
      const apps = await Promise.all([start(), start(), start()])
      const startedAt = performance.now()
      const passed = await countPassed(
        Array.from({ length: 200 }, (_, index) => listModels(apps[index % 3] ?? { url: '' })),
      )
      const refilled = ((performance.now() - startedAt) * 120) / 60_000
      expect(passed).toBeWithin(120, 120 + Math.floor(refilled) + 1)
    })

    test('share the tokens of a minute, with their corrections', async () => {
      const usage = { usage: { prompt_tokens: 8, completion_tokens: 100, total_tokens: 108 } }
      const limits = { tokens_per_minute: 150 }
      const { start } = await prepareGateways(await create(), jsonReply(chatOutput({}, usage)), { limits })
      const [one, two] = [await start(), await start()]
      expect((await sendChat(one)).status).toBe(200)
      const tokensLeft = async () =>
        Number((await listModels(two)).headers.get('x-ratelimit-remaining-tokens'))
      await waitUntil(async () => (await tokensLeft()) < 60, 'the other process knows of the correction')
      expect((await sendChat(two)).status).toBe(200)
      const isRefused = async () => (await sendChat(one)).status === 429
      await waitUntil(isRefused, 'the tokens are used up')
    })

    test('free the slots of one that was killed when it is removed, and not before', async () => {
      const limits = { concurrent_requests: 3 }
      const database = await create()
      const { start, spawn } = await prepareGateways(database, endless, { limits })
      const [survivor, killed] = await Promise.all([start(), spawn()])
      const stream = (gateway: Gateway) => sendChat(gateway, { stream: true })
      const open = [await stream(killed), await stream(killed), await stream(survivor)]
      expect(open.map(({ status }) => status)).toEqual([200, 200, 200])
      await Promise.all(open.slice(0, 2).map((reply) => readPieces(reply).until('It is ')))
      expect((await stream(survivor)).status).toBe(429)
      process.kill(killed.pid, 'SIGKILL')
      const isFree = async () => {
        const reply = await stream(survivor)
        if (reply.status !== 200) return false
        open.push(reply)
        expect(await database.rows('SELECT id FROM processes')).toHaveLength(1)
        return true
      }
      await waitUntil(isFree, 'a slot is free')
      expect(await isFree()).toBe(true)
      await Promise.all(open.slice(2).map((reply) => readPieces(reply).until('It is ')))
      expect(await isFree()).toBe(false)
    }, 120_000)
  })
})
