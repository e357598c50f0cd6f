import { expect, test } from 'bun:test'
import { Database as Sqlite } from 'bun:sqlite'
import { join } from 'node:path'
import { temporaryFolder } from '../../unit/storage/support/folder.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, doneFrame, framesOf, chatOutput } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { chatRequest } from '../../support/scenario.ts'
import { hang, silence } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'
import { startWeir } from './support/weir-process.ts'

const stream = { ...chatRequest, stream: true }

function settingsFor(provider: string) {
  return {
    providers: { acme: { kind: 'openai-compatible', base_url: provider, api_key: 'sk-provider' } },
    models: [{ slug: 'acme/river', routes: [{ provider: 'acme', model: 'river-1' }] }],
  }
}

function usageIn(folder: string) {
  using sqlite = new Sqlite(join(folder, 'weir.db'), { readonly: true })
  return sqlite.query('SELECT status, error FROM usage ORDER BY id').values()
}

test('SIGUSR1 and SIGUSR2, which log rotation sends, end no request', async () => {
  const frames = framesOf(chatOutput())
  const gate = Promise.withResolvers<void>()
  await using upstream = await createUpstream(
    chunks([...frames.slice(0, 2), gate.promise, ...frames.slice(2)]),
  )
  await using weir = await startWeir({ settings: settingsFor(upstream.url), folder: temporaryFolder() })
  const reader = readPieces(await weir.chat(stream))
  await reader.until('It is ')
  for (const name of ['SIGUSR1', 'SIGUSR2'] as const) weir.signal(name)
  expect((await weir.fetch('/readyz')).status).toBe(200)
  gate.resolve()
  expect(await reader.rest()).toEndWith(doneFrame)
  weir.signal('SIGTERM')
  expect(await weir.exited).toBe(0)
})

test('a gateway that shuts down is not ready and accepts no new call, and open streams complete', async () => {
  const frames = framesOf(chatOutput())
  const gate = Promise.withResolvers<void>()
  await using upstream = await createUpstream(
    chunks([...frames.slice(0, 2), gate.promise, ...frames.slice(2)]),
  )
  const folder = temporaryFolder()
  await using weir = await startWeir({ settings: settingsFor(upstream.url), folder })
  const reader = readPieces(await weir.chat(stream))
  await reader.until('It is ')
  weir.signal('SIGTERM')
  await weir.logged(/The gateway is shutting down/)

  const ready = await readError(await weir.fetch('/readyz'))
  expect([ready.status, ready.message]).toEqual([
    503,
    'The gateway is not ready. The gateway is shutting down and accepts no new requests. Try again in a moment.',
  ])
  const refused = await weir.chat(stream)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.headers.get('connection')?.toLowerCase()).toBe('close')
  expect(await readError(refused)).toMatchObject({ status: 503, code: 'service_unavailable' })
  expect(upstream.requests.length).toBe(1)
  expect((await weir.fetch('/livez')).status).toBe(200)
  expect((await weir.fetch('/v1/models')).status).toBe(200)

  gate.resolve()
  const rest = await reader.rest()
  expect(rest).toEndWith(doneFrame)
  expect(rest).toContain('four metres.')
  expect(await weir.exited).toBe(0)
  expect(usageIn(folder)).toEqual(
    expect.arrayContaining([
      [200, null],
      [503, 'service_unavailable'],
    ]),
  )
  await weir.readToEnd
  expect(weir.log()).not.toContain('cut off')
})

test('streams that are open at the end of the drain end with an error that names the shutdown', async () => {
  await using upstream = await createUpstream(chunks([delta({ content: 'eight ch' })], hang), silence)
  const folder = temporaryFolder()
  await using weir = await startWeir({
    settings: settingsFor(upstream.url),
    folder,
    flags: ['--drain', '200ms'],
  })
  const reader = readPieces(await weir.chat(stream))
  await reader.until('eight ch')
  const complete = weir.chat(chatRequest)
  const [streamed, waiting] = [await upstream.request(0), await upstream.request(1)]
  weir.signal('SIGTERM')
  const rest = await reader.rest()
  const frame = JSON.parse(rest.trim().split('\n\n').at(-1)?.replace('data: ', '') ?? '')
  expect(frame.error).toMatchObject({ type: 'server_error', code: 'interrupted' })
  expect(rest).not.toContain('[DONE]')
  expect(await readError(await complete)).toMatchObject({ status: 503, code: 'interrupted' })
  expect(await Promise.all([streamed.aborted, waiting.aborted])).toEqual([true, true])
  expect(await weir.exited).toBe(0)
  expect(usageIn(folder)).toEqual([
    [503, 'interrupted'],
    [503, 'interrupted'],
  ])
  await weir.readToEnd
  expect(weir.log()).toMatch(/Open requests were aborted.*"calls":2/)
})

test('a second stop signal ends the gateway immediately, with the same error', async () => {
  await using upstream = await createUpstream(chunks([delta({ content: 'eight ch' })], hang))
  const folder = temporaryFolder()
  await using weir = await startWeir({
    settings: settingsFor(upstream.url),
    folder,
    flags: ['--drain', '1h'],
  })
  const reader = readPieces(await weir.chat(stream))
  await reader.until('eight ch')
  weir.signal('SIGTERM')
  weir.signal('SIGTERM')
  await weir.logged(/The gateway is shutting down/)
  // The same word twice within a moment is one; the real second one comes later.
  await Bun.sleep(400)
  expect(usageIn(folder)).toEqual([])
  weir.signal('SIGINT')
  expect(await reader.rest()).toContain('"code":"interrupted"')
  expect(await weir.exited).toBe(0)
  expect(usageIn(folder)).toEqual([[503, 'interrupted']])
})

test('a client that stops reading does not block the shutdown', async () => {
  const much = delta({ content: 'x'.repeat(100_000) })
  await using upstream = await createUpstream(
    chunks(
      Array.from({ length: 400 }, () => much),
      hang,
    ),
  )
  const folder = temporaryFolder()
  await using weir = await startWeir({
    settings: settingsFor(upstream.url),
    folder,
    flags: ['--drain', '100ms'],
  })
  await using _stuck = await connectStuck(weir.url)
  await upstream.request(0)
  weir.signal('SIGTERM')
  expect(await weir.exited).toBe(0)
  expect(usageIn(folder)).toEqual([[503, 'interrupted']])
})

test('a gateway without open calls shuts down immediately', async () => {
  await using upstream = await createUpstream(silence)
  await using weir = await startWeir({
    settings: settingsFor(upstream.url),
    folder: temporaryFolder(),
    flags: ['--drain', '1h'],
  })
  expect((await weir.fetch('/readyz')).status).toBe(200)
  weir.signal('SIGTERM')
  expect(await weir.exited).toBe(0)
})

/** A client that sends a question and takes none of the answer. */
async function connectStuck(url: string): Promise<AsyncDisposable> {
  const { connect } = await import('node:net')
  const { firstKey } = await import('../../support/app.ts')
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.pause()
  const body = JSON.stringify(stream)
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${firstKey}\r\n` +
      `content-length: ${body.length}\r\n\r\n${body}`,
  )
  return { [Symbol.asyncDispose]: async () => void socket.destroy() }
}
