import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryFolder } from '../../unit/storage/support/folder.ts'
import { readPieces } from '../../support/body-reader.ts'
import { firstChunks, gatedReply } from '../../support/background.ts'
import { chunks, streamReply } from '../../support/chat-fixtures.ts'
import { firstKey } from '../../support/app.ts'
import { readError } from '../../support/chat-reply.ts'
import { hang } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'
import { startWeir, type WeirProcess } from './support/weir-process.ts'

function settingsFor(provider: string) {
  return {
    providers: { acme: { kind: 'openai-compatible', base_url: provider, api_key: 'sk-provider' } },
    models: [{ slug: 'acme/river', routes: [{ provider: 'acme', model: 'river-1' }] }],
    background: { concurrency: 1 },
  }
}

function post({ url }: WeirProcess, rest: string, body?: object): Promise<Response> {
  return fetch(`${url}/v1/responses${rest}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  })
}

const run = { model: 'acme/river', input: 'How high is it?', background: true }

async function queue(weir: WeirProcess): Promise<string> {
  return ((await (await post(weir, '', run)).json()) as { id: string }).id
}

async function follow(weir: WeirProcess, id: string) {
  return readPieces(await weir.fetch(`/v1/responses/${id}?stream=true`))
}

function storedIn(folder: string) {
  using sqlite = new Sqlite(join(folder, 'weir.db'), { readonly: true })
  const statuses = sqlite.query('SELECT id, status FROM responses ORDER BY id').values()
  const usage = sqlite.query('SELECT status, error FROM usage ORDER BY id').values()
  return { statuses, usage }
}

test('a gateway that shuts down lets an active run end, starts no queued run, and accepts no new one', async () => {
  const gate = Promise.withResolvers<void>()
  await using upstream = await createUpstream(gatedReply(gate.promise), streamReply())
  const folder = temporaryFolder()
  const settings = settingsFor(upstream.url)
  const ids: [string, string] = ['', '']
  {
    await using weir = await startWeir({ settings, folder })
    ids[0] = await queue(weir)
    ids[1] = await queue(weir)
    const reader = await follow(weir, ids[0])
    await reader.until('It is ')
    weir.signal('SIGTERM')
    await weir.logged(/The gateway is shutting down/)
    expect(await readError(await post(weir, '', run))).toMatchObject({
      status: 503,
      code: 'service_unavailable',
    })
    gate.resolve()
    expect(await reader.rest()).toContain('event: response.completed\n')
    expect(await weir.exited).toBe(0)
  }
  expect(upstream.requests.length).toBe(1)
  expect(storedIn(folder).statuses).toEqual([
    [ids[0], 'completed'],
    [ids[1], 'queued'],
  ])
  await using again = await startWeir({ settings, folder })
  expect(await (await follow(again, ids[1])).rest()).toContain('event: response.completed\n')
  expect(storedIn(folder).statuses).toEqual(ids.map((id) => [id, 'completed']))
}, 120_000)

test('a run that outlasts the drain fails with that reason, and is stored as failed', async () => {
  await using upstream = await createUpstream(chunks(firstChunks, hang))
  const folder = temporaryFolder()
  const settings = settingsFor(upstream.url)
  await using weir = await startWeir({ settings, folder, flags: ['--drain', '200ms'] })
  const id = await queue(weir)
  const reader = await follow(weir, id)
  await reader.until('It is ')
  weir.signal('SIGTERM')
  const rest = await reader.rest()
  expect(rest).toContain('"code":"interrupted"')
  expect(rest).toContain('event: response.failed\n')
  expect(await upstream.requests[0]!.aborted).toBe(true)
  expect(await weir.exited).toBe(0)
  expect(storedIn(folder)).toEqual({ statuses: [[id, 'failed']], usage: [[503, 'interrupted']] })
  await using again = await startWeir({ settings, folder })
  expect(await (await follow(again, id)).rest()).toEndWith(rest)
  expect(upstream.requests.length).toBe(1)
}, 120_000)

test('a run can be cancelled during the shutdown', async () => {
  await using upstream = await createUpstream(chunks(firstChunks, hang))
  const folder = temporaryFolder()
  await using weir = await startWeir({
    settings: settingsFor(upstream.url),
    folder,
    flags: ['--drain', '1h'],
  })
  const [running, queued] = [await queue(weir), await queue(weir)]
  await (await follow(weir, running)).until('It is ')
  weir.signal('SIGTERM')
  await weir.logged(/The gateway is shutting down/)
  const replies = await Promise.all([post(weir, `/${queued}/cancel`), post(weir, `/${running}/cancel`)])
  for (const reply of replies) expect(await reply.json()).toMatchObject({ status: 'incomplete' })
  expect(await weir.exited).toBe(0)
  expect(storedIn(folder).statuses).toEqual([
    [running, 'incomplete'],
    [queued, 'incomplete'],
  ])
}, 120_000)
