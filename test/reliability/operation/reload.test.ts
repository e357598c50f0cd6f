import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryFolder } from '../../unit/storage/support/folder.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, doneFrame, framesOf, chatOutput, jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'
import { createUpstream } from '../../support/upstream.ts'
import { startWeir } from './support/weir-process.ts'

test('SIGHUP logs the changed settings, and an open stream continues as it began while new calls use the new settings', async () => {
  const frames = framesOf(chatOutput())
  const gate = Promise.withResolvers<void>()
  const slow = chunks([...frames.slice(0, 2), gate.promise, ...frames.slice(2)])
  await using before = await createUpstream(slow)
  await using after = await createUpstream(jsonReply())
  const settings = (url: string) => ({
    providers: { acme: { kind: 'openai-compatible', base_url: url, api_key: 'sk-canary' } },
    models: [{ slug: 'acme/river', routes: [{ provider: 'acme', model: 'river-1' }] }],
  })
  const folder = temporaryFolder()
  await using weir = await startWeir({ settings: settings(before.url), folder })
  const reader = readPieces(await weir.chat({ ...chatRequest, stream: true }))
  await reader.until('It is ')

  const changed = { ...settings(after.url), port: 1, limits: { requests_per_minute: 50 } }
  await Bun.write(join(folder, 'weir.yaml'), JSON.stringify(changed))
  weir.signal('SIGHUP')
  await weir.logged(/The settings were reloaded.*\n/)
  const line = JSON.parse(weir.log().trim().split('\n').at(-1) ?? '')
  expect(line).toMatchObject({
    file: join(folder, 'weir.yaml'),
    changed: 'limits.requests_per_minute, providers.acme.base_url',
  })
  const reply = await weir.chat(chatRequest)
  expect([reply.status, reply.headers.get('x-ratelimit-limit-requests')]).toEqual([200, '50'])
  expect([before.requests.length, after.requests.length]).toEqual([1, 1])
  gate.resolve()
  expect(await reader.rest()).toEndWith(doneFrame)

  weir.signal('SIGHUP')
  await weir.logged(/"changed":"nothing"/)
  expect(weir.log()).not.toContain('canary')
})
