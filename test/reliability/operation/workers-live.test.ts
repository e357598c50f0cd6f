import { expect, test } from 'bun:test'
import { temporaryFolder } from '../../unit/storage/support/folder.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chatOutput, chunks, framesOf } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'
import { createUpstream } from '../../support/upstream.ts'
import { adminKey } from '../../api/support/admin.ts'
import { canRunWorkers, startWorkers } from './support/weir-workers.ts'

const stream = { ...chatRequest, stream: true }

test.if(canRunWorkers)(
  'a reader of the live requests has those of all workers, whichever worker answers it',
  async () => {
    const frames = framesOf(chatOutput())
    const gate = Promise.withResolvers<void>()
    await using upstream = await createUpstream(
      chunks([...frames.slice(0, 2), gate.promise, ...frames.slice(2)]),
    )
    const settings = {
      providers: { acme: { kind: 'openai-compatible', base_url: upstream.url, api_key: 'sk-provider' } },
      models: [{ slug: 'acme/river', routes: [{ provider: 'acme', model: 'river-1' }] }],
    }
    const environment = { WEIR_ADMIN_KEY: adminKey }
    await using weir = await startWorkers(3, { settings, folder: temporaryFolder(), environment })
    const send = async () => {
      // Each comes by a connection of its own, so that any worker may get it.
      const replies = await Promise.all(Array.from({ length: 12 }, () => weir.chat(stream)))
      const readers = replies.map(readPieces)
      await Promise.all(readers.map((reader) => reader.until('It is ')))
      return { readers, ids: replies.map(({ headers }) => headers.get('x-request-id')) }
    }
    const before = await send()
    const headers = { authorization: `Bearer ${adminKey}`, accept: 'text/event-stream' }
    const live = readPieces(await fetch(`${weir.url}/admin/requests`, { headers }))
    const events: { readonly type: string; readonly request: string }[] = []
    let rest = ''
    const until = async (type: string, ids: readonly (string | null)[]) => {
      const missing = () =>
        ids.some((id) => !events.some((event) => event.type === type && event.request === id))
      while (missing()) {
        const frames = (rest + (await live.next())).split('\n\n')
        rest = frames.pop() ?? ''
        for (const frame of frames) {
          const [, type = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? []
          if (data) events.push({ ...JSON.parse(data), type })
        }
      }
    }
    await until('start', before.ids)
    const after = await send()
    await until('first_token', after.ids)
    gate.resolve()
    await Promise.all([...before.readers, ...after.readers].map((reader) => reader.rest()))
    await until('end', [...before.ids, ...after.ids])
    for (const id of [...before.ids, ...after.ids]) {
      const types = events.filter(({ request }) => request === id).map(({ type }) => type)
      expect(types).toEqual(['start', 'first_token', 'end'])
    }
    await live.leave()
  },
)
